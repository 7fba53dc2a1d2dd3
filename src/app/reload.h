// Reload: what a changed configuration does to a Relay that runs. Upstream servers come, go and change;
// everything else is compared, and what needs a restart is named. A configuration with problems changes
// nothing.
#pragma once

#include <string>
#include <vector>

#include "app/config_watch.h"
#include "app/world.h"
#include "base/log.h"
#include "config/config.h"

namespace relay::app {

/// What differs between two configurations, by the key at the top: "mcps" can change while calls run, the
/// others are for the next start.
struct ConfigChange {
  std::vector<std::string> added, removed, changed;  // upstream servers
  std::vector<std::string> for_restart;              // "policy", "server"
  [[nodiscard]] bool touches_servers() const {
    return !added.empty() || !removed.empty() || !changed.empty();
  }
  [[nodiscard]] bool empty() const { return !touches_servers() && for_restart.empty(); }
};
ConfigChange compare(const config::Config& before, const config::Config& after);

/// Watches the file that the world was made from, and SIGHUP, for as long as it lives. The world and the log
/// outlive it.
class Reloading {
 public:
  Reloading(config::ConfigSources sources, World& world, io::Loop executor, Log& log);

 private:
  void reload(WatchCause cause);
  void refuse(const std::vector<config::ConfigProblem>& problems);
  void tell(const ConfigChange& change);

  config::ConfigSources sources_;
  World& world_;
  Log& log_;
  config::Config current_;
  ConfigWatch watch_;
};

}  // namespace relay::app
