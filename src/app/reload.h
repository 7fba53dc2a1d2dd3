// Reload: what a changed configuration does to a Relay that runs. Upstream servers come, go and change; everything else is compared,
// and what needs a restart is named. A configuration with problems changes nothing.
#pragma once

#include <string>
#include <vector>

#include "app/config.h"
#include "app/world.h"
#include "base/log.h"

namespace relay::app {

/// What differs between two configurations, by the key at the top: "mcps" can change while calls run, the others are for the next start.
struct ConfigChange {
  std::vector<std::string> added, removed, changed;  // upstream servers
  std::vector<std::string> for_restart;              // "policy", "server"
  [[nodiscard]] bool touches_servers() const { return !added.empty() || !removed.empty() || !changed.empty(); }
  [[nodiscard]] bool empty() const { return !touches_servers() && for_restart.empty(); }
};
ConfigChange compare(const Config& before, const Config& after);

/// Watches the file that the world was made from, and SIGHUP, until the process ends.
void watch_config(ConfigSources sources, World& world, io::Executor executor, Log& log);

}  // namespace relay::app
