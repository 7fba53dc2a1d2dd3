// LaunchPlan: the walls around a worker process, described before they are built.
//
// A plan is a value: print it, hash it, put it into the audit log, compare it in a test. The order of its
// walls is the order in which confine.cc builds them; a wall that cannot be built stops the worker with a
// message that names it. A weaker plan is a level with its own name that somebody has to ask for, never a
// fallback.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace relay::sandbox {

enum class Wall : std::uint8_t {
  // around the zygote, inherited by its children
  control_group,  // where one is delegated: what all of them use together
  user_namespace,
  pid_namespace,
  mount_namespace,
  network_namespace,
  ipc_namespace,
  uts_namespace,
  empty_root,         // pivot_root into an empty, read-only tmpfs
  private_root,       // pivot_root into a tree of the system's programs and the declared paths, for a cage
  unprivileged_user,  // nobody, also when relay runs as root
  no_capabilities,    // none held, none obtainable
  no_new_privileges,
  undumpable,  // siblings cannot trace it, the kernel writes no core of it
  // around each child
  own_socket_only,  // every other descriptor is closed
  resource_limits,
  system_call_filter,  // "engine" is an allow-list that kills; "server" a deny-list that refuses
};

std::string_view name_of(Wall wall);

/// How much of the plan a machine must be able to give.
enum class WallLevel : std::uint8_t {
  full,
  reduced,  // no namespaces: for kernels that refuse them. Descriptor, limit and system-call walls still
            // stand.
};

std::string_view name_of(WallLevel level);
std::optional<WallLevel> find_wall_level(std::string_view name);

/// What one child may use. Memory counts from what it shares with its zygote.
struct ChildLimits {
  std::size_t memory_bytes = 0;
  std::size_t address_bytes = 0;  // mapped, whether used or not: page tables count for nothing else
  std::size_t descriptors = 1;    // its socket; nothing else can be opened
  std::size_t stack_bytes = 0;
  std::chrono::seconds cpu{0};
};

struct LaunchPlan {
  WallLevel level = WallLevel::full;
  std::vector<Wall> walls;
  ChildLimits limits;
  std::string filter;  // name of the system call list
};

/// The plan for a zygote and its children at this level.
LaunchPlan make_zygote_plan(WallLevel level);
/// The walls around an upstream server in a cage (cage_plan.h says what is inside). There is no weaker level.
LaunchPlan make_cage_walls();

bool has(const LaunchPlan& plan, Wall wall);
json::object to_json(const LaunchPlan& plan);
/// Equal plans have equal fingerprints: SHA-256 of the canonical JSON.
std::string fingerprint(const LaunchPlan& plan);

}  // namespace relay::sandbox
