// The write tool: creates, appends to or replaces a file. A replaced file is never seen half-written, and
// what the tool reports as written is on the disk.
#pragma once

#include <string>
#include <string_view>

#include "authority/tier.h"
#include "base/json.h"
#include "protocol/tool.h"
#include "vfs/tree.h"

namespace relay::tools {

/// Fails when base64 content is not base64.
Result<vfs::WriteRequest> read_write_arguments(const json::object& arguments);

protocol::ToolResult write_result(std::string_view path, const vfs::WriteReceipt& receipt);

/// Tier 1 in the workspace (/tmp, /out), tier 2 everywhere else: somebody would notice.
authority::Tier write_tier(const json::object& arguments);

}  // namespace relay::tools
