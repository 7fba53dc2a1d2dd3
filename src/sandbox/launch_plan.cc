#include "sandbox/launch_plan.h"

#include <algorithm>

#include "base/digest.h"
#include "base/limits.h"

namespace relay::sandbox {
namespace {

constexpr Wall kNamespaceWalls[] = {Wall::user_namespace,    Wall::pid_namespace,    Wall::mount_namespace,
                                    Wall::network_namespace, Wall::ipc_namespace,    Wall::uts_namespace,
                                    Wall::empty_root,        Wall::unprivileged_user};
// V8 maps more than it keeps when it looks for aligned memory. So much unused space costs 8 MB of page tables
// at worst.
constexpr std::size_t kAddressSlack = 4096 * limits::kMiB;
constexpr Wall kProcessWalls[] = {Wall::no_capabilities, Wall::no_new_privileges, Wall::undumpable,
                                  Wall::own_socket_only, Wall::resource_limits,   Wall::system_call_filter};

}  // namespace

std::string_view name_of(Wall wall) {
  switch (wall) {
    case Wall::control_group: return "control_group";
    case Wall::user_namespace: return "user_namespace";
    case Wall::pid_namespace: return "pid_namespace";
    case Wall::mount_namespace: return "mount_namespace";
    case Wall::network_namespace: return "network_namespace";
    case Wall::ipc_namespace: return "ipc_namespace";
    case Wall::uts_namespace: return "uts_namespace";
    case Wall::empty_root: return "empty_root";
    case Wall::private_root: return "private_root";
    case Wall::unprivileged_user: return "unprivileged_user";
    case Wall::no_capabilities: return "no_capabilities";
    case Wall::no_new_privileges: return "no_new_privileges";
    case Wall::undumpable: return "undumpable";
    case Wall::own_socket_only: return "own_socket_only";
    case Wall::resource_limits: return "resource_limits";
    case Wall::system_call_filter: return "system_call_filter";
  }
  return "unknown";
}

std::string_view name_of(WallLevel level) {
  switch (level) {
    case WallLevel::full: return "full";
    case WallLevel::reduced: return "reduced";
  }
  return "unknown";
}

std::optional<WallLevel> find_wall_level(std::string_view name) {
  for (const WallLevel level : {WallLevel::full, WallLevel::reduced})
    if (name == name_of(level)) return level;
  return std::nullopt;
}

LaunchPlan make_zygote_plan(WallLevel level) {
  LaunchPlan plan;
  plan.level = level;
  if (level == WallLevel::full) plan.walls.assign(std::begin(kNamespaceWalls), std::end(kNamespaceWalls));
  plan.walls.insert(plan.walls.end(), std::begin(kProcessWalls), std::end(kProcessWalls));
  plan.limits.memory_bytes = limits::kRunMemoryBytesMax;
  plan.limits.address_bytes = limits::kRunMemoryBytesMax + kAddressSlack;
  plan.limits.stack_bytes = limits::kRunStackBytes;
  plan.limits.cpu = limits::kRunCpuMax;
  plan.filter = "engine";
  return plan;
}

LaunchPlan make_cage_walls() {
  LaunchPlan plan;
  plan.walls = {Wall::user_namespace,    Wall::pid_namespace,   Wall::mount_namespace,
                Wall::network_namespace, Wall::ipc_namespace,   Wall::uts_namespace,
                Wall::private_root,      Wall::no_capabilities, Wall::no_new_privileges,
                Wall::system_call_filter};
  plan.filter = "server";
  return plan;
}

bool has(const LaunchPlan& plan, Wall wall) {
  return std::ranges::find(plan.walls, wall) != plan.walls.end();
}

json::object to_json(const LaunchPlan& plan) {
  json::array walls;
  for (const Wall wall : plan.walls) walls.emplace_back(name_of(wall));
  const json::object child_limits{{"memoryBytes", plan.limits.memory_bytes},
                                  {"addressBytes", plan.limits.address_bytes},
                                  {"descriptors", plan.limits.descriptors},
                                  {"stackBytes", plan.limits.stack_bytes},
                                  {"cpuSeconds", plan.limits.cpu.count()}};
  return {{"level", name_of(plan.level)},
          {"walls", std::move(walls)},
          {"limits", child_limits},
          {"filter", plan.filter}};
}

std::string fingerprint(const LaunchPlan& plan) {
  return sha256_hex(json::write_canonical(to_json(plan)));
}

}  // namespace relay::sandbox
