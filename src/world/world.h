// World: everything a running Relay is made of. It opens its parts in one order from a checked configuration,
// and ends them in the reverse order. What a part is for, and what it tells, counts and stops, is said by the
// part (part.h). Clock, random source, loop, log and HTTP client come from the command that makes the World.
//
// The command owns it. It lives until the process ends: see leave(). Loop thread only.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/id_maker.h"
#include "config/config.h"
#include "io/thread_pool.h"
#include "metrics/registry.h"
#include "tools/server_info.h"
#include "world/approvals.h"
#include "world/capsule_part.h"
#include "world/client_ending.h"
#include "world/execution_part.h"
#include "world/files_part.h"
#include "world/fleet_part.h"
#include "world/gateway_part.h"
#include "world/group_site_finder.h"
#include "world/part.h"
#include "world/pipeline_part.h"
#include "world/process_part.h"
#include "world/services.h"
#include "world/toolsets_part.h"

namespace relay::world {

class World {
 public:
  /// Makes directories and keys where they are missing. Fails with a sentence for people.
  static Result<std::unique_ptr<World>> build(const config::Config& config, Purpose purpose,
                                              const Services& services);
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  [[nodiscard]] const config::Config& config() const { return config_; }
  [[nodiscard]] const Services& services() const { return services_; }
  [[nodiscard]] const IdMaker& ids() const { return ids_; }
  /// Signs the states that a server in front of this World gives to clients. Made where it is missing.
  [[nodiscard]] Result<std::string> state_key() const;
  [[nodiscard]] io::ThreadPool& pool() { return pool_; }
  [[nodiscard]] metrics::Registry& metrics() { return metrics_; }
  [[nodiscard]] const tools::ServerInfo& info() const { return info_; }
  [[nodiscard]] pipeline::GuardedBackend& backend() { return pipeline_->backend(); }
  [[nodiscard]] pipeline::Pipeline& pipeline() { return pipeline_->pipeline(); }
  [[nodiscard]] CapsulePart& capsules() { return *capsules_; }
  [[nodiscard]] Approvals& approvals() { return *approvals_; }
  [[nodiscard]] FilesPart& files() { return *files_; }
  [[nodiscard]] upstream::Fleet& fleet() { return fleet_->fleet(); }
  [[nodiscard]] codemode::CodeMode& code_mode() { return fleet_->code_mode(); }
  /// The configuration must have the toolset `code`.
  [[nodiscard]] runs::RunDependencies& runs() { return *execution_->runs(); }

  /// Takes over what can change while calls run: upstream servers, the policy, mounts, settings of tools, and
  /// which of the toolsets that were opened at the start are offered. Calls that run keep what they have. The
  /// rest of the configuration is for the next start.
  void adopt(const config::Config& wanted);

  /// Stops every part; returns when all have ended, or with the first error. Parts limit their own time.
  io::Task<void> stop();
  /// The end of the process: what was recorded is written, and nothing else is taken apart. Coroutines that
  /// are still suspended belong to a loop that no longer runs; their frames hold references to all of this.
  [[noreturn]] void leave(int exit_code);

 private:
  World(const config::Config& config, const Services& services);
  Result<void> open_directories();
  Result<void> open_parts(Purpose purpose);
  void start(Purpose purpose);
  /// Whether programs can call MCP servers, as the configuration says at start.
  [[nodiscard]] tools::ServersForCode servers_for_code() const;
  [[nodiscard]] tools::ToolsetParts toolset_parts();

  /// Keeps a part that was opened, and adds it to the list.
  template <class Opened>
  Result<void> take(std::unique_ptr<Opened>& place, Result<std::unique_ptr<Opened>> opened) {
    RELAY_TRY(place, std::move(opened));
    parts_.push_back(place.get());
    return {};
  }

  const config::Config config_;
  Services services_;
  std::string node_;
  IdMaker ids_;
  io::ThreadPool pool_;
  metrics::Registry metrics_;
  tools::ServerInfo info_;
  GroupSiteFinder groups_;

  // In the order of opening; each may use those above it.
  std::unique_ptr<ProcessPart> process_;
  std::unique_ptr<CapsulePart> capsules_;
  std::unique_ptr<PipelinePart> pipeline_;
  std::unique_ptr<Approvals> approvals_;
  std::unique_ptr<FleetPart> fleet_;
  std::unique_ptr<FilesPart> files_;
  std::unique_ptr<ExecutionPart> execution_;  // null without the toolset `code`
  std::unique_ptr<ToolsetsPart> toolsets_;
  std::unique_ptr<GatewayPart> gateway_;
  std::optional<ClientEnding> client_ending_;
  std::vector<Part*> parts_;  // all of them, in that order
};

}  // namespace relay::world
