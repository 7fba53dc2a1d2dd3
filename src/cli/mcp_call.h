// The arguments of `relay mcp call`, from words to JSON.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"

namespace relay::cli {

/// One JSON object as it is, or key=value words: a value is text where the schema says so, otherwise JSON if
/// it is some, otherwise text.
Result<std::string> parse_call_arguments(const std::vector<std::string>& words,
                                         const json::value& input_schema);

}  // namespace relay::cli
