// Upstream: one server of the configuration, looked after. It is started on first use (or ahead of time),
// kept warm, restarted with back-off when it dies, stopped when nobody needs it, and given up after some
// tries in a row until somebody asks again later.
//
// Callers only see request(): it waits for the start, for a free place, and fails with a sentence that names
// the server and says why. A failure costs the calls of this server and of no other. Loop thread only.
//
// A server does something only for a recorded call, and gets the bytes that were judged. What needs no record
// has its own function that takes an authority::Unrecorded; lists and pings are made by the upstream itself.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "peer/peer.h"
#include "sandbox/cage_limits.h"
#include "upstream/offer.h"
#include "upstream/passed_call.h"
#include "upstream/server_spec.h"

namespace relay::upstream {

/// idle: not started, or stopped for lack of use. failed: given up; `relay mcp test`, a changed spec or a
/// pause revives it.
enum class ServerPhase : std::uint8_t { disabled, idle, starting, ready, backing_off, failed };
std::string_view name_of(ServerPhase phase);

struct Status {
  ServerPhase phase = ServerPhase::idle;
  WallTime since{};
  std::string reason;                    // of backing_off and failed: what happened, with the exit status
  std::vector<std::string> stderr_tail;  // the last lines, redacted
  int restarts = 0;                      // since it was last ready for a while
  std::optional<int> pid;
  std::optional<sandbox::CageStanding> cage;  // what holds the limits of its cage, while it runs
  std::optional<protocol::Revision> revision;
  std::size_t open_calls = 0;
  std::uint64_t calls = 0;
  std::uint64_t failures = 0;  // calls that got no answer
};

class Upstream {
 public:
  virtual ~Upstream() = default;

  [[nodiscard]] virtual const ServerSpec& spec() const = 0;
  [[nodiscard]] virtual Status status() const = 0;

  /// Starts the server if need be. Waits for the answer as long as the spec's time-out says. `exchange`
  /// speaks for the caller of the record; both must live until this completes.
  io::Task<peer::PeerAnswer> request(const authority::Recorded& recorded, PassedCall passed,
                                     peer::RequestScope& exchange);
  /// completion/complete with these parameters.
  io::Task<peer::PeerAnswer> complete(const authority::Unrecorded& permit, std::string params,
                                      peer::RequestScope& exchange);
  /// What it offers: the kept one while it is fresh, otherwise asked for. One question at a time goes out,
  /// whoever waits.
  virtual io::Task<std::shared_ptr<const Offer>> offer() = 0;
  /// The same, but what an earlier relay saw is good enough while the server was not asked: nothing is
  /// started for a list.
  virtual io::Task<std::shared_ptr<const Offer>> offer_at_hand() = 0;
  /// The last one seen, however old; null when there was none. No I/O.
  [[nodiscard]] virtual std::shared_ptr<const Offer> known_offer() const = 0;

  /// Reference-counted by URI; survives reconnects. Watching is reading again and again, so it has a record.
  io::Task<void> watch(const authority::Recorded& recorded, std::string uri);
  virtual void unwatch(std::string_view uri) = 0;
  virtual void set_log_level(protocol::LogLevel level) = 0;
  virtual void roots_changed() = 0;
  /// Ends connection and process; the next request starts them again.
  virtual io::Task<void> stop() = 0;

 protected:
  /// What request() and complete() have in common, once the permission was seen.
  virtual io::Task<peer::PeerAnswer> send(peer::Outgoing outgoing, peer::RequestScope& exchange) = 0;
  virtual io::Task<void> start_watch(std::string uri) = 0;
};

}  // namespace relay::upstream
