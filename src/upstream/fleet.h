// Fleet: all upstream servers of the configuration. app/ owns it; it owns the servers, takes changes of the
// configuration while calls run, and tells its subscribers what changed where. A server that fails is a state
// of that server, never an error of the fleet. Loop thread only; stop() before the loop ends.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "io/thread_pool.h"
#include "net/http_client.h"
#include "sandbox/control_group.h"
#include "secrets/secrets.h"
#include "upstream/upstream.h"

namespace relay::upstream {

/// What a server of the fleet says. Its lists count as changed when it comes, goes or fails, too.
using FleetSink = std::function<void(std::string_view server, const protocol::ServerEvent& event)>;

struct FleetOptions {
  protocol::Implementation self;  // how we introduce ourselves
  std::filesystem::path state;    // .relay/mcp: era verdicts, logs
  secrets::ResolveSecrets resolve;
  std::shared_ptr<secrets::Redactor>
      redactor;                        // learns what is resolved, and removes it from what comes back
  std::filesystem::path cage_program;  // relay-cage: cages, and the supervisors of other stdio servers
  std::function<sandbox::GroupSite()> find_group_site = {};  // where cages have their control groups
  /// Finds what a cage has to cover, before each start. Called from pool threads; may be empty.
  std::function<void(launch::CageSpec&)> hide_own_files = {};
};

class Fleet {
 public:
  static std::unique_ptr<Fleet> make(io::Loop executor, net::HttpClient& http, io::ThreadPool& pool,
                                     const Clock& clock, RandomSource& random, Log& log,
                                     FleetOptions options);
  virtual ~Fleet() = default;

  /// Servers whose spec did not change keep their connections; the others are stopped, started, added or
  /// removed.
  virtual void apply(std::vector<ServerSpec> specs) = 0;
  /// In the order of the configuration. A pointer stays valid while it is held, also after a change.
  [[nodiscard]] virtual std::vector<std::shared_ptr<Upstream>> all() const = 0;
  [[nodiscard]] virtual std::shared_ptr<Upstream> find(std::string_view name) const = 0;

  /// The sink is called for as long as the returned pointer is held.
  [[nodiscard]] virtual std::shared_ptr<const FleetSink> subscribe(FleetSink sink) = 0;

  /// Ends every connection and process; returns when they are gone.
  virtual io::Task<void> stop() = 0;
};

}  // namespace relay::upstream
