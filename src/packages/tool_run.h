// Running programs that are not relay for packages (npm, pip, esbuild, the compiler of bundles): in a cage,
// to the end or to a limit, with bounded output.
//
// A tool sees the system's programs, what its call shows, and an empty home; it reaches the hosts of its call
// through the cage's proxy, or none. Of relay's environment it gets the language and the certificates. Its
// configuration is what relay writes for it.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "authority/effects.h"
#include "base/clock.h"
#include "base/log.h"
#include "io/child.h"
#include "io/spawn.h"
#include "launch/process_count.h"
#include "launch/process_launch.h"
#include "packages/js_diagnosis.h"

namespace relay::packages {

using Environment = std::map<std::string, std::string>;
using EffectsPtr = std::shared_ptr<authority::Effects>;

/// Whether the path is the directory or lies in it. Both are absolute, without "." and "..".
bool is_beneath(std::string_view path, std::string_view directory);

/// Pure: the part of an environment that a tool in a cage sees: the language and the certificates, and a PATH
/// of the system's directories.
Environment tool_environment(const Environment& all);
/// Pure: the part that finds the user's own node and python3: directories and the variables of version
/// managers.
Environment lookup_environment(const Environment& all);
/// Pure: the files and directories that the certificates of an environment are in.
std::vector<std::string> certificate_paths(const Environment& all);
/// Pure: a path that every cage shows anyway.
bool is_system_path(std::string_view path);

/// Tells whoever waits what is going on. Called on the loop thread, first after a second, then every two.
using Progress = std::function<void(std::string_view phase, std::chrono::milliseconds elapsed)>;

struct ToolCall {
  std::string program;  // a path
  std::vector<std::string> args;
  Environment environment;  // besides tool_environment()
  std::string directory;    // one of cage.write
  std::string phase;        // for progress and time-outs: "npm install"
  std::chrono::milliseconds timeout{};
  json::array packages = {};   // what is installed, for the audit line
  launch::CageSpec cage = {};  // what it sees and reaches; its limits are those of tools
};

struct ToolOutcome {
  io::ExitStatus status;
  std::string out;                   // the first bytes of it
  std::string err;                   // the last bytes of it: that is where tools say what is wrong
  std::vector<std::string> refused;  // what the cage's proxy refused, in words
  ProxySaw proxy = ProxySaw::hosts;
};

/// What is done where the kernel refuses a cage.
enum class WithoutCage : std::uint8_t { fail, run };

struct ToolOptions {
  launch::LaunchParts parts = {};  // relay-cage, and where control groups are made; the loop is the caller's
  WithoutCage without_cage = WithoutCage::fail;
  Environment environment = {};  // relay's own, all of it
  Log* log = nullptr;            // for the warning that a tool runs without a cage; may be null
  sandbox::CageLimits limits = {.memory_bytes = limits::kToolMemoryBytes,
                                .processes = limits::kToolProcesses,
                                .file_bytes = limits::kToolFileBytes,
                                .scratch_bytes = limits::kToolScratchBytes};
};

/// Starts tools. Owned by Packages, outlives the resolvers that use it. Loop thread only.
class ToolRunner {
 public:
  ToolRunner(ToolOptions options, const Clock& clock);

  /// Fails when the program cannot be started (dependency, with its name), when the cage cannot be built,
  /// when it takes too long or when a limit of the cage ended it; another bad exit is an outcome. The process
  /// is an effect of the call whose record gave `effects`; without one no process starts.
  io::Task<ToolOutcome> run(EffectsPtr effects, ToolCall call, Progress progress);

  /// What a program of the user prints about itself, such as where it is. No cage: it gets fixed arguments
  /// and nothing of a package.
  io::Task<std::string> ask(EffectsPtr effects, std::string program, std::vector<std::string> args);

  [[nodiscard]] const Environment& environment() const { return options_.environment; }
  /// The path of a program of the user, looked for in relay's PATH.
  [[nodiscard]] Result<std::string> find_program(const std::string& name) const;

 private:
  struct Talk;
  io::Task<ToolOutcome> start_and_talk(ToolCall call);
  io::Task<bool> has_cage(const ToolCall& call);
  Result<launch::Launch> build_launch(const ToolCall& call, bool is_caged, const Talk& talk);
  Result<launch::Launch> make_launch(const ToolCall& call, bool is_caged, const std::shared_ptr<Talk>& talk);
  io::Task<ToolOutcome> talk_to(launch::Launch launch, std::shared_ptr<Talk> talk);
  [[nodiscard]] launch::LaunchCommand command_of(const ToolCall& call) const;
  [[nodiscard]] launch::CageSpec cage_of(const ToolCall& call) const;

  ToolOptions options_;
  const Clock& clock_;
  std::shared_ptr<launch::ProcessCount> processes_;
  std::optional<bool> cages_stand_;  // known once the first tool ran, where running without one is allowed
  std::size_t started_ = 0;
};

/// Calls progress until the task returns.
io::asio::awaitable<void> report_while(io::Task<void> task, std::string phase, Progress progress);

/// Calls progress while the task runs, as ToolRunner does.
template <class T>
io::Task<T> with_progress(io::Task<T> task, std::string phase, Progress progress) {
  if (!progress) co_return co_await std::move(task);
  std::optional<Result<T>> result;
  co_await report_while(io::store_result(std::move(task), result), std::move(phase), std::move(progress));
  co_return *std::move(result);
}

Error dependency_error(std::string message);

}  // namespace relay::packages
