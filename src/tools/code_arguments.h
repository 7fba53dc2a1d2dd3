// The arguments of run_js and run_py as a value. The schema was checked before; what is read here cannot
// miss.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "executors/run.h"

namespace relay::tools {

struct CodeArguments {
  std::string code;
  std::string stdin_text;
  std::vector<std::string> args;
  std::map<std::string, std::string> env;
  std::string cwd = "/";
  json::object packages;  // the "npm" or "pip" block, as given
  json::object policy;    // the client's override; it can only narrow
  std::string session;    // empty: a fresh sandbox
  executors::SessionStart session_start = executors::SessionStart::keep;
  std::optional<std::chrono::milliseconds> timeout;
  std::string executor;  // "local", "browser" or empty
  std::optional<std::vector<std::string>>
      servers;  // upstream servers that the run may call; nothing: not said
};

CodeArguments read_code_arguments(const json::object& arguments, executors::Language language);

/// Everything the run will see, as text for deny patterns: code, stdin, arguments and environment.
std::string code_policy_text(const json::object& arguments);

std::string_view code_input_schema(executors::Language language);
std::string_view code_output_schema();

}  // namespace relay::tools
