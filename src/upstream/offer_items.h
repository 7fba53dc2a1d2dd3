// Reading one item of a list: its bytes are kept whole (`raw`), what Relay looks at is read from them. Lenient: a member of the wrong
// type is not there. An item without a name is an error that says which.
#pragma once

#include <optional>

#include "protocol/listing.h"
#include "protocol/tool.h"
#include "upstream/server_spec.h"

namespace relay::upstream {

/// Also fails over limits::kUpstreamToolBytes.
Result<protocol::Tool> parse_tool(const protocol::JsonText& text);
Result<std::optional<protocol::Resource>> parse_resource(const protocol::JsonText& text);
Result<std::optional<protocol::ResourceTemplate>> parse_template(const protocol::JsonText& text);
Result<std::optional<protocol::Prompt>> parse_prompt(const protocol::JsonText& text);

/// By the spec's globs: deny beats allow, and an empty allow list means all.
bool is_admitted(const ServerSpec& spec, std::string_view tool);
/// Fails where a modern HTTP client must drop the tool.
Result<void> check_header_params(const protocol::Tool& tool);

inline constexpr std::size_t kOdditiesMax = 50;

}  // namespace relay::upstream
