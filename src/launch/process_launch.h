// Launch: a process that is ready to be started, with everything that has to live as long as it: its way out,
// its control group. Three kinds: behind the walls of a cage, supervised (its descendants end with it),
// plain.
//
// Knows nothing of MCP: any command can run in a cage. ServerProcess::start takes a Launch and owns it from
// then on:
//
//   RELAY_TRY(Launch launch, make_caged_launch(parts, "npm", {.program = "npm", .args = {"ci"}, ...}, cage,
//   log)); RELAY_TRY(auto process, ServerProcess::start(executor, std::move(launch), log, heads));
//   ... read process->child().out(); how it ended, and by which limit: co_await process->exit_report()
//
// Loop thread only; making one costs a few file operations.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/child.h"
#include "launch/cage_proxy.h"
#include "launch/cage_spec.h"
#include "launch/child_environment.h"
#include "launch/server_log.h"
#include "sandbox/cage_limits.h"
#include "sandbox/cage_plan.h"

namespace relay::launch {

/// What to run, before anybody says behind which walls.
struct LaunchCommand {
  std::string program;  // a path, or a name to look up in PATH
  std::vector<std::string> args;
  std::string directory;  // empty: ours, or /tmp in a cage
  Environment environment;
};

/// Where relay-cage is, and where control groups are made. The site is asked for when the first cage is made.
struct LaunchParts {
  io::Loop executor;
  std::filesystem::path cage_program;
  std::function<sandbox::GroupSite()> find_group_site;
};

struct Launch {
  io::ChildSpec child;
  std::unique_ptr<CageProxy> proxy;            // of a cage with hosts
  std::optional<sandbox::ControlGroup> group;  // of a cage, where one can be made
  sandbox::CageLimits limits;                  // of a cage
  std::optional<sandbox::CageStanding> standing;
  std::function<void(std::string_view)> on_stderr;  // gets what the log gets, before it is cut; may be empty
};

/// Pure: the plan of a cage for this command, with what holds its limits.
sandbox::CagePlan make_cage_plan(const LaunchCommand& command, const CageSpec& cage,
                                 const sandbox::CageStanding& standing, std::vector<std::string> groups);

/// `name` is for people: it becomes part of the control group's name. Fails when the plan would be no cage,
/// or a control group that the configuration names cannot be made; without one that it does not name, the
/// weaker level is in `standing` and in the log.
Result<Launch> make_caged_launch(const LaunchParts& parts, std::string_view name,
                                 const LaunchCommand& command, const CageSpec& cage,
                                 const std::shared_ptr<ServerLog>& log);

/// The command as it is, with a supervisor that ends what it leaves behind. Without relay-cage (an empty
/// cage_program) only its process group ends with it.
Result<Launch> make_supervised_launch(const LaunchParts& parts, const LaunchCommand& command);

}  // namespace relay::launch
