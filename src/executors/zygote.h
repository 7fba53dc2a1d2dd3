// Zygote: one relay-zygote process under supervision: started, asked for children, restarted when it dies.
//
// Loop thread only. Boot happens in the background; fork() waits for it. When the process ends, everybody who
// waits for a child gets an error, its children are gone with it (they live in its pid namespace), and after
// a pause that doubles each time a new one is started. A process that lives and does not answer (stopped, or
// hung) is noticed by its missing answers to pings, killed and replaced in the same way.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "executors/run_child.h"
#include "io/event.h"
#include "io/spawn.h"
#include "io/task.h"
#include "sandbox/control_group.h"
#include "sandbox/launch_plan.h"

namespace relay::executors {

struct ZygoteSpec {
  std::string program;      // path of relay-zygote
  std::string kind;         // js, py
  std::string runtime_dir;  // harness bundles, runtimes and their caches
  sandbox::WallLevel level = sandbox::WallLevel::full;
  sandbox::GroupSite site = {};  // where its control group is made
  std::size_t group_memory_bytes =
      0;  // of all its children together, above what it has itself once it has booted
  std::size_t group_processes_max = 0;
  std::chrono::milliseconds ping = limits::kZygotePing;  // see limits::kZygotePingsMissed
};

enum class ZygotePhase : std::uint8_t { booting, ready, waiting, stopped };  // waiting: for its next start
std::string_view name_of(ZygotePhase phase);

struct ZygoteStatus {
  ZygotePhase phase = ZygotePhase::booting;
  double boot_ms = 0;              // of the last boot
  std::vector<std::string> walls;  // that stand around it
  std::string level;
  std::string group;         // "v1", "v2", "none"
  std::string group_reason;  // with none: why
  std::vector<std::string> group_directories;
  std::size_t group_memory_bytes = 0;  // the limit, the zygote included
  std::string last_error;              // the last lines it printed when it died
  std::uint64_t starts = 0;
  std::size_t children = 0;  // forked and not yet reaped
};

struct ControlMessage;

class Zygote : public std::enable_shared_from_this<Zygote> {
 public:
  /// Starts it in the background. stop() ends it; so does the end of the loop.
  static std::shared_ptr<Zygote> start(const io::Loop& executor, ZygoteSpec spec);
  ~Zygote();

  /// A child that has its walls and waits for its start frame. Waits for the boot, bounded by kZygoteBootMax.
  io::Task<RunChild> fork();
  /// Waits for the first or next boot; fails when the zygote cannot start.
  io::Task<void> wait_ready();
  void stop();

  [[nodiscard]] const ZygoteStatus& status() const { return status_; }
  [[nodiscard]] const ZygoteSpec& spec() const { return spec_; }
  /// Children that the kernel knows and we do not: 0, or something is wrong.
  [[nodiscard]] std::size_t leaked_children() const;
  /// Called whenever it becomes ready, and whenever a child has ended: time to refill.
  void on_change(std::function<void()> listener) { listener_ = std::move(listener); }

 private:
  struct Process;
  struct PendingFork;

  Zygote(const io::Loop& executor, ZygoteSpec spec);
  io::Task<void> supervise();
  io::Task<void> live(Process& process);
  io::Task<RunChild> fork_now();
  Result<std::shared_ptr<Process>> spawn_process();
  Result<void> make_group();
  void limit_group();
  void handle(ControlMessage message);
  void on_ready(const json::object& content);
  void on_forked(const json::object& content, Fd pidfd);
  void on_exited(const json::object& content);
  void on_death(std::string reason);
  void plan_ping();
  void ping();
  void changed();

  io::Loop executor_;
  ZygoteSpec spec_;
  ZygoteStatus status_;
  std::optional<sandbox::ControlGroup> group_;  // outlives the processes in it
  std::shared_ptr<Process> process_;            // shared with the coroutine that reads its control socket
  io::Event ready_;                             // set while children can be forked
  io::Event settled_;                           // set when ready, or when a start has failed
  std::int64_t next_id_ = 1;
  std::map<std::int64_t, std::shared_ptr<PendingFork>> pending_;
  std::map<std::int64_t, std::shared_ptr<RunChild::State>> children_;
  std::function<void()> listener_;
  io::CancelSource cancel_;
};

}  // namespace relay::executors
