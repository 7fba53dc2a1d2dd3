// ExecutionPart: where programs run, and all that a run needs: executors, packages, and the callbacks of
// runs. There is one when the configuration has the toolset `code`.
#pragma once

#include <atomic>
#include <memory>
#include <string_view>

#include "executors/executor_table.h"
#include "executors/local_executor.h"
#include "packages/packages.h"
#include "policy/engine.h"
#include "runs/run_code.h"
#include "world/capsule_part.h"
#include "world/files_part.h"
#include "world/fleet_part.h"
#include "world/group_site_finder.h"
#include "world/part.h"
#include "world/pipeline_part.h"
#include "world/refusal_book.h"
#include "world/services.h"

namespace relay::world {

/// May a run change a file below /host? The policy is asked as for the tool `write`. Asked from pool threads
/// while the loop replaces the rules, so it has an engine of its own.
class WriteJudge {
 public:
  explicit WriteJudge(const policy::Rules& rules) { set_rules(rules); }
  void set_rules(const policy::Rules& rules);
  [[nodiscard]] bool allows(const authority::Call& run, std::string_view path) const;

 private:
  std::atomic<std::shared_ptr<const policy::PolicyEngine>> engine_;
};

class ExecutionPart final : public Part {
 public:
  /// The parts that it is made from. All outlive it.
  struct Needs {
    const Services& services;
    IdMaker ids;
    io::ThreadPool& pool;
    GroupSiteFinder& groups;
    CapsulePart& capsules;
    FleetPart& fleet;
    FilesPart& files;
  };
  /// Boots nothing. Fails when the configured packages are not understood.
  static Result<std::unique_ptr<ExecutionPart>> open(const config::Config& config, Purpose purpose,
                                                     const Needs& needs);
  ~ExecutionPart() override;

  [[nodiscard]] executors::ExecutorTable& executors() { return executors_; }
  [[nodiscard]] const std::shared_ptr<runs::RunDependencies>& runs() const { return runs_; }

  /// execution.
  void describe(tools::ServerInfo& info) const override;
  void measure(metrics::Registry& metrics) const override;
  /// Boots the runtimes of a server; prunes the packages now and then.
  void start(Purpose purpose) override;
  /// The policy, for runs that begin from now on.
  void adopt(const config::Config& now) override;
  /// Ends every run and sandbox.
  io::Task<void> stop() override;
  void close() override { executors_.stop(); }

 private:
  ExecutionPart(const config::Config& config, Purpose purpose, const Needs& needs,
                std::unique_ptr<packages::Packages> packages);

  Services services_;
  io::ThreadPool& pool_;
  config::WallsChoice walls_;
  RefusalBook refusals_;
  WriteJudge writes_;
  std::shared_ptr<packages::Packages> packages_;
  executors::LocalExecutor local_;
  executors::ExecutorTable executors_;
  std::shared_ptr<runs::RunDependencies> runs_;
};

}  // namespace relay::world
