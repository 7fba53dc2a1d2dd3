// Kept results as the tool read opens them: relay://results/<id>, with the range in the URI or in the
// arguments of the tool. The answer has the shape of a file's.
#pragma once

#include <string_view>

#include "pipeline/results_store.h"
#include "tools/files_read.h"

namespace relay::tools {

bool is_kept_result(std::string_view path);

/// Precondition: is_kept_result(arguments.path). Fails when the result is gone or belongs to somebody else.
Result<protocol::ToolResult> read_kept(pipeline::ResultsStore& results, std::string_view principal,
                                       ReadArguments arguments);

}  // namespace relay::tools
