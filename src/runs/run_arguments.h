// RunArguments: the arguments of run_js and run_py, and of `relay run`, as a value. They are read from the
// recorded call and nowhere else: what runs is what was judged. The schema was checked before; look-ups here
// cannot miss.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "executors/run.h"

namespace relay::runs {

struct RunArguments {
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

/// Fails where arguments that fit the schema contradict each other.
Result<RunArguments> read_run_arguments(const json::object& arguments, executors::Language language);

}  // namespace relay::runs
