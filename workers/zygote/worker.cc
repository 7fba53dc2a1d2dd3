#include "worker.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>

#include "base/json.h"
#include "cheap_fork.h"
#include "confine.h"
#include "fork_pages.h"
#include "fork_server.h"
#include "hot_pages.h"
#include "memory_image.h"
#include "oom_priority.h"
#include "sandbox/control_group.h"
#include "sandbox/namespaces.h"
#include "signature.h"

namespace relay::zygote {
namespace {

using std::chrono::steady_clock;

constexpr int kControlSocket = 3;
constexpr int kWallFailed = 71;    // a wall of a child could not be built
constexpr int kEngineFailed = 70;  // the engine or the harness broke

double ms_since(steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(steady_clock::now() - begin).count();
}

// What arrives here is a defect of ours, and relay is told before the end.
void report_defect(RunSocket& socket, const Error& error) {
  const json::object thrown{{"type", "Internal"}, {"message", error.message}};
  const json::object done{{"exitCode", 1}, {"error", thrown}};
  (void)socket.send(sandbox::FrameKind::done, json::write(done), {});
}

[[noreturn]] void serve_child(Engine& engine, const ChildWalls& walls, const HotPages& pages, int socket_fd) {
  if (!confine_child(walls, socket_fd)) ::_exit(kWallFailed);
  pages.prepare();
  RunSocket socket(kRunSocket);
  if (!socket.send(sandbox::FrameKind::ready, "{}", {})) ::_exit(0);
  const auto on_start = [&walls](std::string_view header) {
    if (!limit_run(walls, header)) ::_exit(kWallFailed);
  };
  const Result<void> served = engine.serve(socket, on_start);
  if (!served) report_defect(socket, served.error());
  ::_exit(served ? 0 : kEngineFailed);
}

int report(const Result<void>& result) {
  if (result) return 0;
  std::fprintf(stderr, "relay-zygote: %s\n", result.error().message.c_str());
  return 1;
}

json::object ready_message(const sandbox::LaunchPlan& plan, double boot_ms) {
  json::object message{
      {"op", "ready"}, {"bootMs", boot_ms}, {"plan", fingerprint(plan)}, {"level", name_of(plan.level)}};
  message["walls"] = to_json(plan).at("walls");
  return message;
}

Result<void> run_zygote(const ZygoteOptions& options, const sandbox::LaunchPlan& plan,
                        const BootEngine& boot) {
  const steady_clock::time_point begin = steady_clock::now();
  keep_heap_in_place();
  warm_up_crypto();
  RELAY_TRY(const std::unique_ptr<Engine> engine, boot(options));
  if (options.mode == ZygoteMode::make_cache) return {};
  fill_heap_holes();
  RELAY_CHECK(use_huge_pages());
  RELAY_TRY([[maybe_unused]] const std::size_t mappings, allow_fork_of_all_pages());
  if (const Result<void> moved = move_into_image(); !moved)
    (void)report(moved);  // forks are dearer, not wrong
  RELAY_CHECK(keep_pages_that_runs_read([&engine] { return engine->practise(); }));
  RELAY_TRY(const HotPages pages, HotPages::learn([&engine] { return engine->rehearse(); }));
  pages.prepare();
  RELAY_TRY(const ChildWalls walls, prepare_child_walls(plan));
  RELAY_TRY(const OomPriority oom_priority, OomPriority::open());
  RELAY_CHECK(confine_zygote(plan));
  ForkServer server(kControlSocket, oom_priority,
                    [&](int socket) { serve_child(*engine, walls, pages, socket); });
  return server.run(ready_message(plan, ms_since(begin)));
}

// The outer process holds nothing open, so that relay sees the end of the inner one on every descriptor.
int wait_for(pid_t pid) {
  ::close_range(0, 1, 0);
  ::close_range(kControlSocket, ~0U, 0);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

sandbox::LaunchPlan choose_zygote_plan(const ZygoteOptions& options) {
  return sandbox::make_zygote_plan(options.level);
}

int run_worker(int argc, const char* const* argv, const BootEngine& boot, const ChoosePlan& choose) {
  const Result<ZygoteOptions> options = parse_options(argc, argv);
  if (!options) return report(fail(options.error()));
  sandbox::LaunchPlan plan = choose(*options);
  if (!options->groups.empty()) plan.walls.insert(plan.walls.begin(), sandbox::Wall::control_group);
  if (options->mode == ZygoteMode::print_plan)
    return std::puts(json::write_pretty(to_json(plan)).c_str()) < 0;
  if (options->mode == ZygoteMode::make_cache) return report(run_zygote(*options, plan, boot));
  if (const Result<void> joined = sandbox::join_groups(options->groups); !joined) return report(joined);
  const Result<pid_t> inner = sandbox::fork_into_namespaces(plan);
  if (!inner) return report(fail(inner.error()));
  if (*inner > 0) return wait_for(*inner);
  if (const Result<void> bound = sandbox::die_with_parent(); !bound) return report(bound);
  return report(run_zygote(*options, plan, boot));
}

}  // namespace relay::zygote
