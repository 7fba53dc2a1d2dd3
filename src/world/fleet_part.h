// FleetPart: the upstream servers, and what programs see of them (code mode).
#pragma once

#include <memory>

#include "codemode/code_mode.h"
#include "io/thread_pool.h"
#include "upstream/fleet.h"
#include "world/group_site_finder.h"
#include "world/part.h"
#include "world/services.h"

namespace relay::world {

class FleetPart final : public Part {
 public:
  /// Starts no server. All outlive it.
  static Result<std::unique_ptr<FleetPart>> open(const config::Config& config, const Services& services,
                                                 io::ThreadPool& pool, GroupSiteFinder& groups,
                                                 pipeline::GuardedBackend& backend);

  [[nodiscard]] upstream::Fleet& fleet() { return *fleet_; }
  [[nodiscard]] codemode::CodeMode& code_mode() { return *code_mode_; }
  /// policy.redactSecrets, for the answers that come from now on.
  void adopt(const config::Config& now) override;
  void measure(metrics::Registry& metrics) const override;
  /// Ends every upstream server; returns when they are gone, or fails after limits::kShutdownGrace.
  io::Task<void> stop() override;
  /// Writes what was learned of servers.
  void close() override { code_mode_->save(); }

 private:
  FleetPart(const config::Config& config, const Services& services, io::ThreadPool& pool,
            GroupSiteFinder& groups, pipeline::GuardedBackend& backend);

  std::unique_ptr<upstream::Fleet> fleet_;
  std::shared_ptr<secrets::Redactor> redactor_;
  std::unique_ptr<codemode::CodeMode> code_mode_;
};

}  // namespace relay::world
