// Files as MCP resources have URIs: relay://files/ and the tree path as one percent-encoded part, which is
// what the template relay://files/{path} expands to (RFC 6570, level 1).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace relay::tools {

inline constexpr std::string_view kFileUriPrefix = "relay://files/";
inline constexpr std::string_view kFileUriTemplate = "relay://files/{path}";

/// "/out/a b.txt" -> "relay://files/out%2Fa%20b.txt"
std::string uri_of_file(std::string_view tree_path);
/// The tree path of such a URI; slashes may also stand unencoded. Nothing for other URIs.
std::optional<std::string> find_file_of_uri(std::string_view uri);
/// The value of the template's variable as a tree path; nothing when the encoding is broken.
std::optional<std::string> find_file_of_variable(std::string_view value);

}  // namespace relay::tools
