// World: everything a running Relay is made of, built in one place from a checked configuration and taken
// apart in the reverse order. Nothing else in the program constructs a clock, a random source, a pool, a
// journal or an executor.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/approvals.h"
#include "app/call_observers.h"
#include "app/client_ending.h"
#include "app/package_options.h"
#include "app/refusal_book.h"
#include "audit/journal.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "capsule/builder.h"
#include "capsule/store.h"
#include "codemode/code_mode.h"
#include "config/config.h"
#include "executors/executor_table.h"
#include "executors/local_executor.h"
#include "gateway/gateway.h"
#include "io/thread_pool.h"
#include "metrics/registry.h"
#include "net/http_client.h"
#include "packages/packages.h"
#include "pipeline/guarded_backend.h"
#include "runs/run_code.h"
#include "sandbox/control_group.h"
#include "tools/code_tools.h"
#include "tools/file_subscriptions.h"
#include "tools/server_info.h"
#include "upstream/fleet.h"
#include "vfs/workspace.h"

namespace relay::app {

/// Which command the world is for: a server boots its runtimes ahead of time, the others on first use.
enum class Purpose : std::uint8_t { serve, stdio, run };

class World {
 public:
  /// Makes directories and keys where they are missing. Fails with a sentence for people.
  static Result<std::unique_ptr<World>> build(const config::Config& config, Purpose purpose, io::Loop loop,
                                              Log& log);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  [[nodiscard]] const config::Config& config() const { return config_; }
  /// Starts, stops and changes upstream servers as this configuration says, and tells clients that connect
  /// from now on. The rest of it is for the next start.
  void apply_servers(const config::Config& config);
  [[nodiscard]] Clock& clock() { return clock_; }
  [[nodiscard]] RandomSource& random() { return random_; }
  [[nodiscard]] io::ThreadPool& pool() { return pool_; }
  [[nodiscard]] metrics::Registry& metrics() { return metrics_; }
  [[nodiscard]] tools::ServerInfo& info() { return info_; }
  [[nodiscard]] pipeline::GuardedBackend& backend() { return *backend_; }
  [[nodiscard]] pipeline::Pipeline& pipeline() { return *pipeline_; }
  [[nodiscard]] const capsule::KeyRing& keys() const { return capsules_->keys(); }
  [[nodiscard]] capsule::CapsuleStore& capsule_store() { return *store_; }
  /// Null without the code toolset.
  [[nodiscard]] executors::LocalExecutor* local() { return local_.get(); }
  [[nodiscard]] const std::shared_ptr<runs::RunDependencies>& code() const { return code_; }
  [[nodiscard]] upstream::Fleet& fleet() { return *fleet_; }
  [[nodiscard]] codemode::CodeMode& code_mode() { return *code_mode_; }

  /// The files that no mount shows. After the configuration file was replaced it is refreshed.
  [[nodiscard]] const std::shared_ptr<vfs::HiddenFiles>& hidden() const { return hidden_; }

  [[nodiscard]] Approvals& approvals() { return *approvals_; }
  /// Takes over the rules, the network and the limits of a changed policy; calls that run keep theirs. The
  /// filesystem was built into the trees and stays.
  void adopt_policy(const policy::Policy& policy);

  /// Ends every run, sandbox and upstream server; returns when they are gone, or after
  /// limits::kShutdownGrace.
  io::Task<void> stop();
  /// The end of the process: what was recorded is written, and nothing else is taken apart. Coroutines that
  /// are still suspended belong to a loop that no longer runs; their frames hold references to all of this.
  [[noreturn]] void leave(int exit_code);

 private:
  World(const config::Config& config, io::Loop loop, Log& log);

  Result<void> open_state();
  Result<void> open_policy();
  Result<void> open_approvals();
  Result<void> open_files();
  Result<void> open_packages();
  Result<void> open_execution(Purpose purpose);
  /// Where control groups are made; found when the first zygote or cage needs one.
  const sandbox::GroupSite& group_site();
  Result<void> add_toolsets();
  void open_fleet();
  void open_gateway();
  void stop_runs();
  Result<void> add_files(pipeline::Toolset& toolset);
  void describe();
  void measure();

  const config::Config config_;
  io::Loop loop_;
  Log& log_;
  SystemClock clock_;
  SystemRandom random_;
  io::ThreadPool pool_;
  metrics::Registry metrics_;
  tools::ServerInfo info_;
  WallTime started_;

  std::shared_ptr<const capsule::KeyRing> key_ring_;
  std::unique_ptr<capsule::CapsuleBuilder> capsules_;
  std::unique_ptr<capsule::CapsuleStore> store_;
  std::unique_ptr<audit::Journal> journal_;
  std::unique_ptr<policy::Broker> broker_;
  std::unique_ptr<Approvals> approvals_;
  std::unique_ptr<pipeline::ResultsStore> results_;
  std::unique_ptr<pipeline::Pipeline> pipeline_;
  std::vector<std::unique_ptr<pipeline::CallObserver>> observers_;
  CallCounter* counter_ = nullptr;  // one of them
  std::unique_ptr<pipeline::GuardedBackend> backend_;
  std::unique_ptr<io::ThreadPool> search_pool_;  // made with the files toolset
  std::unique_ptr<tools::FileSubscriptions> subscriptions_;
  std::unique_ptr<net::HttpClient> http_;
  std::optional<sandbox::GroupSite> group_site_;
  std::unique_ptr<upstream::Fleet> fleet_;
  std::unique_ptr<codemode::CodeMode> code_mode_;
  std::shared_ptr<vfs::HiddenFiles> hidden_;
  std::unique_ptr<vfs::Trees> trees_;
  std::unique_ptr<RefusalBook> refusals_;
  std::unique_ptr<packages::Packages> packages_;
  std::unique_ptr<executors::LocalExecutor> local_;
  std::unique_ptr<executors::ExecutorTable> executors_;
  std::shared_ptr<runs::RunDependencies> code_;
  std::unique_ptr<ClientEnding> client_ending_;
  std::vector<std::unique_ptr<pipeline::Toolset>> toolsets_;
  std::unique_ptr<gateway::Gateway> gateway_;
};

}  // namespace relay::app
