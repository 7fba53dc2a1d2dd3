// The HTTP headers of the modern era that repeat what the body says, so that proxies can route without
// parsing it.
//
// The body decides; a header that is missing or says something else is an error (-32020). Pure: a transport
// hands in a look-up.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/json_text.h"
#include "protocol/jsonrpc.h"

namespace relay::protocol {

using FindHeader = std::function<std::optional<std::string_view>(std::string_view name)>;

/// A tool argument that is repeated in the header Mcp-Param-<name>.
struct HeaderParam {
  std::vector<std::string> path;  // of properties, from the root of the arguments
  std::string name;
};

/// The `x-mcp-header` annotations of an input schema. Fails where a client would have to drop the tool: a
/// type other than string, integer or boolean, a place not reached through `properties`, a bad or repeated
/// name.
Result<std::vector<HeaderParam>> parse_header_params(const json::value& input_schema);

/// Plain when it is safe in a header, =?base64?...?= otherwise.
std::string encode_header_value(std::string_view value);
/// Nothing when the sentinel holds no valid base64 of UTF-8.
std::optional<std::string> find_decoded_header_value(std::string_view value);

/// The header that repeats a name, and what it has to say: tools/call -> params.name. Nothing for other
/// methods.
std::optional<std::string_view> find_named_param(const Request& request);

/// MCP-Protocol-Version, Mcp-Method and Mcp-Name against the body.
std::optional<RpcError> check_standard_headers(const Request& request, std::string_view version,
                                               const FindHeader& find);
std::optional<RpcError> check_param_headers(const json::object& arguments,
                                            const std::vector<HeaderParam>& params, const FindHeader& find);

}  // namespace relay::protocol
