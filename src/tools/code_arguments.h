// The arguments of run_js and run_py as a value. The schema was checked before; look-ups here cannot miss.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "runs/run_code.h"

namespace relay::tools {

/// Fails where arguments that fit the schema contradict each other.
Result<runs::RunArguments> read_code_arguments(const json::object& arguments, executors::Language language);

/// Everything the run will see, as text for deny patterns: code, stdin, arguments and environment.
std::string code_policy_text(const json::object& arguments);
/// The same by name, lists and objects member by member. None of them identifies a target: what a program
/// reaches is judged when it reaches for it.
std::vector<authority::CallField> code_fields(const json::object& arguments);

std::string_view code_input_schema(executors::Language language);
std::string_view code_output_schema();

}  // namespace relay::tools
