// The order in which walls go up: around the zygote once it has booted, around each child right after the
// fork.
//
// Both stop at the first wall that cannot be built; the message names it. What stands afterwards is exactly
// the plan.
#pragma once

#include <string_view>

#include "base/result.h"
#include "sandbox/launch_plan.h"
#include "sandbox/resource_limits.h"
#include "sandbox/system_calls.h"

namespace relay::zygote {

/// The number that the run socket has in every child: the only one there is, so a limit of one descriptor
/// leaves no room for another. Nothing reads standard input here, and what a library prints to 1 or 2 goes
/// nowhere.
inline constexpr int kRunSocket = 0;

/// Around the zygote: no files, no privileges. Called once, after boot.
Result<void> confine_zygote(const sandbox::LaunchPlan& plan);

/// What a child needs to know that it cannot find out behind the walls; made in the zygote.
struct ChildWalls {
  sandbox::LaunchPlan plan;
  sandbox::SystemCallFilter filter;
  sandbox::MemoryBase base;  // at the time of the fork
};

/// Measures and compiles; called before confine_zygote takes /proc away.
Result<ChildWalls> prepare_child_walls(const sandbox::LaunchPlan& plan);

/// Around a child that was just forked: its socket becomes kRunSocket, everything else goes.
Result<void> confine_child(const ChildWalls& walls, int socket);

/// The limits that a start frame's header asks for: {"limits":{"memMb":64,"cpuMs":2000}}. Never more than the
/// plan's.
Result<void> limit_run(const ChildWalls& walls, std::string_view start_header);

}  // namespace relay::zygote
