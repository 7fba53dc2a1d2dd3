// Running the user's own tools (npm, pip, esbuild): to the end or to a time limit, with bounded output.
//
// They get a small environment: enough to find the user's configuration (home, npm_config_*, PIP_*, proxies,
// certificates), nothing else of ours. Loop thread only.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "authority/effects.h"
#include "io/child.h"
#include "io/spawn.h"

namespace relay::packages {

using Environment = std::map<std::string, std::string>;
using EffectsPtr = std::shared_ptr<authority::Effects>;

/// Pure: the part of an environment that a package tool may see.
Environment tool_environment(const Environment& all);

/// Tells whoever waits what is going on. Called on the loop thread, first after a second, then every two.
using Progress = std::function<void(std::string_view phase, std::chrono::milliseconds elapsed)>;

struct ToolCall {
  std::string program;
  std::vector<std::string> args;
  Environment environment;
  std::string directory;
  std::string phase;  // for progress and time-outs: "npm install"
  std::chrono::milliseconds timeout{};
  json::array packages = {};  // what is installed, for the audit line
};

struct ToolOutcome {
  io::ExitStatus status;
  std::string out;  // the first bytes of it
  std::string err;  // the last bytes of it: that is where tools say what is wrong
};

/// Fails when the program cannot be started (dependency, with its name) or takes too long; a bad exit is an
/// outcome. The process is an effect of the call whose record gave `effects`; without one no process starts.
io::Task<ToolOutcome> run_tool(EffectsPtr effects, ToolCall call, Progress progress);

/// Calls progress until the task returns.
io::asio::awaitable<void> report_while(io::Task<void> task, std::string phase, Progress progress);

/// Calls progress while the task runs, as run_tool does.
template <class T>
io::Task<T> with_progress(io::Task<T> task, std::string phase, Progress progress) {
  if (!progress) co_return co_await std::move(task);
  std::optional<Result<T>> result;
  co_await report_while(io::store_result(std::move(task), result), std::move(phase), std::move(progress));
  co_return *std::move(result);
}

Error dependency_error(std::string message);

}  // namespace relay::packages
