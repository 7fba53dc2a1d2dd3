// A configuration file of another program, read into JSON: JSON as people write it (comments, trailing
// commas, a byte order mark) or TOML. Pure; the file may come from anywhere, so size and depth are limited
// and nothing in it is executed or fetched.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/json.h"

namespace relay::imports {

enum class DocumentFormat : std::uint8_t { json, toml };

Result<json::object> parse_document(std::string_view text, DocumentFormat format);

/// JSON with comments and trailing commas; the top level is an object.
Result<json::object> parse_jsonc(std::string_view text);
/// Dates and times become text; everything else has its like in JSON.
Result<json::object> parse_toml(std::string_view text);

}  // namespace relay::imports
