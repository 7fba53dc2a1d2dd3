// The arguments of run_js and run_py as a value. The schema was checked before; what is read here cannot
// miss.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "runs/run_code.h"

namespace relay::tools {

runs::RunArguments read_code_arguments(const json::object& arguments, executors::Language language);

/// Everything the run will see, as text for deny patterns: code, stdin, arguments and environment.
std::string code_policy_text(const json::object& arguments);

std::string_view code_input_schema(executors::Language language);
std::string_view code_output_schema();

}  // namespace relay::tools
