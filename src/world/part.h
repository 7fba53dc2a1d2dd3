// Part: one subsystem of a running Relay. A part is opened from the configuration, the services of the
// process and the parts before it; World opens them in one order and owns them. Each part tells about itself,
// counts itself, starts and stops itself, so nothing else has a list of all subsystems. Loop thread only.
#pragma once

#include <cstdint>

#include "config/config.h"
#include "io/task.h"
#include "metrics/registry.h"
#include "tools/server_info.h"

namespace relay::world {

/// Which command the world is for: a server boots its runtimes ahead of time, the others on first use.
enum class Purpose : std::uint8_t { serve, stdio, run };

class Part {
 public:
  Part() = default;
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;
  virtual ~Part() = default;

  /// Adds its sections to what server_info tells.
  virtual void describe(tools::ServerInfo& /*info*/) const {}
  /// Adds its numbers to the metrics page.
  virtual void measure(metrics::Registry& /*metrics*/) const {}
  /// Begins what goes on by itself. Called once, when all parts are there.
  virtual void start(Purpose /*purpose*/) {}
  /// Takes over what changed while calls run; calls that run keep what they have. `now` differs from what the
  /// part was opened with only where that is possible: see World::adopt.
  virtual void adopt(const config::Config& /*now*/) {}
  /// Ends what it started. Calls are not served any more. An error says what did not end.
  virtual io::Task<void> stop() { co_return Result<void>{}; }
  /// The process ends now: writes what is kept. Nothing else is called afterwards.
  virtual void close() {}
};

}  // namespace relay::world
