// What modern HTTP repeats of a request in header fields. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/json_text.h"

namespace relay::peer {

using HeaderFields = std::vector<std::pair<std::string, std::string>>;

/// Mcp-Name and Mcp-Param-*: for tools/call those arguments that the tool's input schema marks with
/// x-mcp-header. Precondition: params is an object's text.
HeaderFields repeated_fields(std::string_view method, std::string_view params,
                             const std::optional<protocol::JsonText>& input_schema);

}  // namespace relay::peer
