#include "confine.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/json.h"
#include "base/limits.h"
#include "memory_growth.h"
#include "sandbox/namespaces.h"
#include "sandbox/resource_limits.h"

namespace relay::zygote {

using sandbox::Wall;

Result<void> confine_zygote(const sandbox::LaunchPlan& plan) {
  if (has(plan, Wall::empty_root)) RELAY_CHECK(sandbox::enter_empty_root());
  if (has(plan, Wall::unprivileged_user)) RELAY_CHECK(sandbox::become_nobody());
  if (has(plan, Wall::no_capabilities)) RELAY_CHECK(sandbox::drop_capabilities());
  if (has(plan, Wall::no_new_privileges)) RELAY_CHECK(sandbox::forbid_new_privileges());
  if (has(plan, Wall::undumpable)) RELAY_CHECK(sandbox::forbid_dumps());
  return sandbox::die_with_parent();
}

Result<ChildWalls> prepare_child_walls(const sandbox::LaunchPlan& plan) {
  ChildWalls walls;
  walls.plan = plan;
  RELAY_TRY(walls.base, memory_now());
  RELAY_TRY(walls.filter, sandbox::SystemCallFilter::compile(plan.filter));
  return walls;
}

namespace {

Result<void> keep_only(int socket) {
  if (socket != kRunSocket && ::dup2(socket, kRunSocket) < 0)
    return fail(from_errno(errno, "wall own_socket_only: move the socket"));
  if (::close_range(kRunSocket + 1, ~0U, 0) != 0)
    return fail(from_errno(errno, "wall own_socket_only: close the rest"));
  return {};
}

void reset_signals() {
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

}  // namespace

Result<void> confine_child(const ChildWalls& walls, int socket) {
  RELAY_CHECK(sandbox::die_with_parent());
  reset_signals();
  if (has(walls.plan, Wall::own_socket_only)) RELAY_CHECK(keep_only(socket));
  if (has(walls.plan, Wall::resource_limits))
    RELAY_CHECK(sandbox::set_resource_limits(walls.plan.limits, walls.base));
  if (has(walls.plan, Wall::system_call_filter)) RELAY_CHECK(walls.filter.load());
  return {};
}

Result<void> limit_run(const ChildWalls& walls, std::string_view start_header) {
  const auto text =
      json::find_text(start_header, "limits");  // the frame is relay's own: only this one member is read here
  if (!text) return {};
  RELAY_TRY(const json::object wanted, json::parse_object(*text));
  if (const auto mem_mb = json::find_int(wanted, "memMb"); mem_mb && *mem_mb > 0) {
    const std::size_t memory =
        std::min(static_cast<std::size_t>(*mem_mb) * limits::kMiB, walls.plan.limits.memory_bytes);
    RELAY_CHECK(sandbox::lower_memory_limit(walls.base.data_bytes + memory));
  }
  if (const auto cpu_ms = json::find_int(wanted, "cpuMs"); cpu_ms && *cpu_ms > 0)
    RELAY_CHECK(sandbox::set_cpu_budget(std::chrono::milliseconds(*cpu_ms)));
  return {};
}

}  // namespace relay::zygote
