// Reload: what a changed configuration does to a Relay that runs. Upstream servers come, go and change; the
// policy, mounts, settings of tools and the choice of toolsets are replaced; everything else is compared, and
// what needs a restart is named. A configuration with problems changes nothing.
//
// The file may have been written by anybody, also by what Relay runs. So a change that would execute or grant
// something (config/widening.h) waits for the operator, unless one of Relay's own commands wrote exactly
// these bytes (config/attestation.h). A change that only tightens applies at once. Of a mixed change, servers
// are taken one by one: those that only tighten, or go, do so at once; the rest of the file waits as a whole.
// Each reload is an audit line of the tool "config".
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/config_watch.h"
#include "base/log.h"
#include "config/config.h"
#include "config/widening.h"
#include "world/world.h"

namespace relay::app {

/// What differs between two configurations, by the key at the top. A key may be in both lists: of "policy"
/// and "toolsets" a part can change while calls run, and a part is for the next start.
struct ConfigChange {
  std::vector<std::string> added, removed, changed;  // upstream servers
  std::vector<std::string> live;                     // in force for the next call: "policy", "mounts"
  std::vector<std::string> for_restart;              // "server"
  [[nodiscard]] bool touches_servers() const {
    return !added.empty() || !removed.empty() || !changed.empty();
  }
  [[nodiscard]] bool empty() const { return !touches_servers() && for_restart.empty() && live.empty(); }
};
ConfigChange compare(const config::Config& before, const config::Config& after);

/// The part of `after` that needs no operator: `before`, with the servers that are gone, and with those whose
/// change widens nothing. `widenings` gets what does, of the whole change.
config::Config without_widenings(const config::Config& before, const config::Config& after,
                                 std::vector<config::Widening>& widenings);

/// Watches the file that the world was made from, and SIGHUP, for as long as it lives. The world outlives it.
/// Loop thread only; the file is read on the pool.
class Reloading {
 public:
  Reloading(config::ConfigSources sources, world::World& world);

 private:
  struct Reading;
  void reload(WatchCause cause);
  io::Task<void> read(WatchCause cause);
  void judge(Reading reading, WatchCause cause);
  void refuse(const std::vector<config::ConfigProblem>& problems, const std::string& digest);
  void adopt(config::Config config, std::string_view by, const std::string& digest, WatchCause cause);
  void put_in_force(config::Config config);
  void wait(config::Config wanted, const std::vector<config::Widening>& widenings, const std::string& digest);
  void answered(const config::Config& wanted, const std::string& digest, const world::ApprovalAnswer& answer);
  void withdraw();
  void note(std::string_view action, json::object args);

  config::ConfigSources sources_;
  world::World& world_;
  world::Services services_;
  config::Config current_;         // in force
  std::string waiting_;            // the id of the reload that waits
  std::string denied_;             // the digest of a file that the operator did not want
  std::string spent_attestation_;  // its nonce; none is accepted twice
  bool reading_ = false;
  std::optional<WatchCause> again_;  // the file changed while it was read
  ConfigWatch watch_;
};

}  // namespace relay::app
