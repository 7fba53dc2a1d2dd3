// LocalExecutor: runs code in children of the zygotes on this machine.
//
// One queue in front of all runtimes; behind it a zygote and a pool of ready children for each. The zygotes
// boot in the background when start() is called, or on the first run that needs them. Loop thread only.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "executors/executor.h"
#include "executors/prepared_children.h"
#include "executors/ready_pool.h"
#include "executors/run.h"
#include "executors/run_channel.h"
#include "executors/run_queue.h"
#include "executors/session_table.h"
#include "executors/zygote.h"

namespace relay::executors {

struct LocalConfig {
  std::string zygote_program;  // path of relay-zygote
  std::string runtime_dir;
  sandbox::WallLevel walls = sandbox::WallLevel::full;
  std::size_t ready_children = limits::kReadyChildren;
  sandbox::GroupSite groups = {};  // where control groups are made, one for each zygote
  std::size_t group_memory_bytes =
      0;  // what all runs of one language may use together, where there is a group
  RunQueue::Bounds queue;
  SessionTable::Bounds sessions;
};

/// For server_info, doctor and metrics.
struct LocalStatus {
  struct BootedRuntime {
    Runtime runtime;
    ZygoteStatus zygote;
    std::size_t ready = 0;
  };
  std::vector<BootedRuntime> runtimes;  // that were started
  std::size_t running = 0;
  std::size_t waiting = 0;
  std::size_t sessions = 0;
  std::uint64_t runs = 0;           // ended, whatever way
  std::size_t leaked_children = 0;  // alive in the kernel and unknown to us: must be 0
};

class LocalExecutor final : public Executor {
 public:
  LocalExecutor(io::Loop executor, const Clock& clock, LocalConfig config);
  ~LocalExecutor() override;

  [[nodiscard]] std::string_view name() const override { return "local"; }
  [[nodiscard]] bool can_run(Runtime runtime) const override;
  /// Boots the runtime's zygote in the background, so that the first run need not wait for it.
  void start(Runtime runtime);
  [[nodiscard]] bool has_session(const SessionKey& key, Runtime runtime) const override {
    return sessions_.contains(key, runtime);
  }
  void drop_sessions(std::string_view owner) override { sessions_.drop(owner); }
  void stop() override;

  [[nodiscard]] LocalStatus status() const;
  [[nodiscard]] SessionTable& sessions() { return sessions_; }

 private:
  struct Booted {
    std::shared_ptr<Zygote> zygote;
    std::shared_ptr<ReadyPool> pool;
  };

  struct Served {
    std::shared_ptr<RunChild> child;
    ChannelResult result;
  };

  Task<RunOutcome> perform(OwnedRun run, std::shared_ptr<HostCalls> calls, RunObserver& observer,
                           RunStop stop) override;
  Booted& boot(Runtime runtime);
  /// Who a run talks to while it goes on, and where it stands in the queue.
  struct Around {
    std::shared_ptr<HostCalls> calls;
    RunObserver& observer;
    RunStop stop;
    RunQueue::Ticket ticket;
  };

  Task<RunOutcome> run_fresh(OwnedRun& run, Around& around);
  Task<RunOutcome> run_in_session(OwnedRun& run, Around& around);
  Task<Served> serve(std::shared_ptr<RunChild> child, OwnedRun& run, Around& around);
  Task<std::shared_ptr<RunChild>> take_child(Runtime runtime, RunObserver& observer);
  void prepare_successor(const OwnedRun& run);
  Task<void> prepare(OwnedRun run, std::string key);
  void sweep_prepared();

  io::Loop executor_;
  LocalConfig config_;
  std::shared_ptr<RunQueue> queue_;
  SessionTable sessions_;
  std::map<Runtime, Booted> booted_;
  PreparedChildren prepared_;
  io::asio::steady_timer sweep_;
  bool sweeping_ = false;
  io::CancelSource preparing_;
  std::uint64_t runs_ = 0;
};

}  // namespace relay::executors
