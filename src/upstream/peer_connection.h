// PeerConnection: an open Peer and what carries it: a child process with its pipes, or nothing but HTTP.
//
// Connect is how a supervisor gets one. The real one (connector.h) starts processes; tests hand in their own.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "io/task.h"
#include "launch/server_log.h"
#include "peer/peer.h"
#include "sandbox/cage_limits.h"
#include "upstream/server_spec.h"

namespace relay::upstream {

class PeerConnection {
 public:
  virtual ~PeerConnection() = default;  // a process that still runs is killed, and reaped in the background

  virtual peer::Peer& peer() = 0;
  [[nodiscard]] virtual std::optional<int> pid() const = 0;
  /// What holds the limits of its cage; nothing without a cage.
  [[nodiscard]] virtual std::optional<sandbox::CageStanding> cage() const { return std::nullopt; }
  /// How the process ended, for a sentence: "exited with code 3". Waits a moment for it; empty when it runs
  /// or there is none.
  virtual io::Task<std::string> exit_report() = 0;
  /// Ends connection and process group, gently first; returns when they are gone.
  virtual io::Task<void> close() = 0;
};

/// Fails with a reason for people. Kinds that a second try cannot mend (see is_hopeless) are not tried again.
/// `observer` lives as long as the connection; `log` takes what the server says on stderr.
using Connect = std::function<io::Task<std::unique_ptr<PeerConnection>>(
    const ServerSpec& spec, peer::EraChoice era, peer::PeerObserver& observer,
    std::shared_ptr<launch::ServerLog> log)>;

/// A missing program, a missing secret, a refused credential: only a change of the configuration helps.
bool is_hopeless(const Error& error);

}  // namespace relay::upstream
