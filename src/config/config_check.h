// Checks configuration JSON against the shipped schema and says everything that is wrong with it, at once.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace relay::config {

struct ConfigProblem {
  std::string where;  // "$.policy.mode", "RELAY_PORT"
  std::string what;   // a sentence that says what to do
};

/// Every problem: wrong types and values by the schema, unknown keys with the nearest known one.
std::vector<ConfigProblem> check_against_schema(const json::value& schema, const json::value& value);

/// A copy of value in which missing members have the defaults that the schema gives them.
json::value with_defaults(const json::value& schema, const json::value& value);

}  // namespace relay::config
