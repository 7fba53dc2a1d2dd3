// ServerConnection: one connection of an upstream server, looked after: started when somebody needs it,
// restarted with back-off when it dies, asked whether it lives when it stops answering, stopped when nobody
// uses it.
//
// A server that clients share has one lane; one with sharing "session" has a lane for each session. Whoever
// needs the connection while it starts waits for the same start. The connection belongs to a
// ConnectionInstance; a call holds its line, so that a lane that moved on to a new process never pulls the
// old one away from under a call that still unwinds. Loop thread only.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "io/event.h"
#include "io/spawn.h"
#include "upstream/era_verdicts.h"
#include "upstream/peer_connection.h"
#include "upstream/upstream.h"

namespace relay::upstream {

/// The times of a supervisor; tests make them short.
struct Pace {
  std::chrono::milliseconds first_delay = limits::kUpstreamFirstDelay;
  std::chrono::milliseconds stable = limits::kUpstreamStable;
  std::chrono::milliseconds revive = limits::kUpstreamRevive;
  std::chrono::milliseconds ping = limits::kUpstreamPing;
  int tries = limits::kUpstreamTries;
  int timeouts = limits::kUpstreamTimeouts;
};

/// What the lanes of one server share.
struct ConnectionSetup {
  ServerSpec spec;
  io::Loop executor;
  const Clock& clock;
  Connect connect;
  std::shared_ptr<EraVerdicts> eras;
  std::shared_ptr<launch::ServerLog> log;
  Pace pace;
};

class ServerConnection;

/// What a lane tells the upstream it belongs to, and what it asks of it.
class ConnectionOwner {
 public:
  virtual ~ConnectionOwner() = default;
  virtual void phase_changed(ServerConnection& lane, ServerPhase before) = 0;
  virtual void server_event(const protocol::ServerEvent& event) = 0;
  /// Called with a new connection before anybody else uses it: restores watches and the log level.
  virtual io::Task<void> restore_state(ServerConnection& lane, peer::Peer& peer) = 0;
  /// A reason to keep an unused connection.
  [[nodiscard]] virtual bool is_wanted(const ServerConnection& lane) const = 0;
};

class ConnectionInstance;

class ServerConnection : public std::enable_shared_from_this<ServerConnection> {
 public:
  ServerConnection(std::shared_ptr<const ConnectionSetup> setup, std::weak_ptr<ConnectionOwner> owner)
      : setup_(std::move(setup)), owner_(std::move(owner)) {}

  /// An open connection, started if need be. Fails at once while the server is given up.
  io::Task<std::shared_ptr<ConnectionInstance>> open();
  /// Sends it and counts what comes back. A connection that dies meanwhile gives an error with the server's
  /// last words.
  io::Task<peer::PeerAnswer> request(peer::Outgoing outgoing, peer::RequestScope& exchange);
  /// Why a request on that line really failed. Waits for the server's last words when the line is closed.
  io::Task<Error> explain(std::shared_ptr<ConnectionInstance> line, Error error);
  /// Nothing when the lane is not ready.
  [[nodiscard]] std::shared_ptr<ConnectionInstance> find_open() const;
  /// Ends connection and process; forgets failures. The next use starts again.
  io::Task<void> stop();

  /// An open call: it keeps the lane from being stopped as idle.
  class Use {
   public:
    explicit Use(ServerConnection& lane) : lane_(lane.shared_from_this()) { ++lane.open_calls_; }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    ~Use() {
      --lane_->open_calls_;
      lane_->last_used_ = lane_->setup_->clock.mono();
    }

   private:
    std::shared_ptr<ServerConnection> lane_;
  };

  [[nodiscard]] ServerPhase phase() const { return phase_; }
  [[nodiscard]] WallTime since() const { return since_; }
  [[nodiscard]] const std::string& reason() const { return reason_; }
  [[nodiscard]] int failures() const { return failures_; }
  [[nodiscard]] std::size_t open_calls() const { return open_calls_; }
  [[nodiscard]] MonoTime last_used() const { return last_used_; }
  [[nodiscard]] const ServerSpec& spec() const { return setup_->spec; }

 private:
  friend class ConnectionInstance;
  struct Start {
    explicit Start(const io::Loop& executor) : settled(executor) {}
    io::Event settled;
    io::CancelSource cancel;
  };

  void begin_start();
  io::Task<void> start_until_settled(std::shared_ptr<Start> start);
  io::Task<void> try_until_settled();
  io::Task<std::shared_ptr<ConnectionInstance>> connect();
  void become_ready(std::shared_ptr<ConnectionInstance> line);
  /// False when that was the last try.
  bool note_failure(const Error& error);
  void set_phase(ServerPhase phase, std::string reason = {});
  [[nodiscard]] bool may_try_again() const;
  [[nodiscard]] std::chrono::milliseconds delay() const;
  [[nodiscard]] Error given_up() const;

  void instance_closed(const std::shared_ptr<ConnectionInstance>& line, const Error& why);
  io::Task<void> finish_closed(std::shared_ptr<ConnectionInstance> line, Error why);
  io::Task<std::string> describe_exit(std::shared_ptr<ConnectionInstance> line, std::string why);
  void note_answer(const std::shared_ptr<ConnectionInstance>& line, const Result<peer::PeerAnswer>& answer);
  io::Task<void> check_alive(std::shared_ptr<ConnectionInstance> line);
  io::Task<void> stop_when_idle(std::shared_ptr<ConnectionInstance> line);
  [[nodiscard]] bool stops_when_idle() const;

  std::shared_ptr<const ConnectionSetup> setup_;
  std::weak_ptr<ConnectionOwner> owner_;
  ServerPhase phase_ = ServerPhase::idle;
  WallTime since_{};
  std::string reason_;
  int failures_ = 0;  // starts and lives that failed since it was last ready for a while
  MonoTime failed_at_{};
  std::shared_ptr<Start> start_;
  std::shared_ptr<ConnectionInstance> line_;
  std::shared_ptr<ConnectionInstance>
      previous_;  // closed, perhaps not gone: the next start waits for it, because of ports and lock files
  MonoTime ready_at_{};
  MonoTime last_used_{};
  std::size_t open_calls_ = 0;
  int timeouts_in_row_ = 0;
};

/// One connection of a lane, from its start to its burial.
class ConnectionInstance final : public peer::PeerObserver,
                                 public std::enable_shared_from_this<ConnectionInstance> {
 public:
  explicit ConnectionInstance(const std::shared_ptr<ServerConnection>& lane)
      : finished_(lane->setup_->executor),
        gone_(lane->setup_->executor),
        lane_(lane),
        log_(lane->setup_->log) {}

  [[nodiscard]] peer::Peer& peer() const { return connection_->peer(); }
  [[nodiscard]] bool is_open() const { return connection_ && !is_closed_ && connection_->peer().is_open(); }
  [[nodiscard]] std::optional<int> pid() const { return connection_ ? connection_->pid() : std::nullopt; }
  [[nodiscard]] std::optional<sandbox::CageStanding> cage() const {
    return connection_ ? connection_->cage() : std::nullopt;
  }

  void server_event(const protocol::ServerEvent& event) override;
  void oddity(std::string_view text) override;
  void closed(const Error& why) override;

 private:
  friend class ServerConnection;
  void stop_timers();

  io::Event finished_;       // exit_report_ is written
  io::Event gone_;           // the last of its processes has ended
  std::string exit_report_;  // "it exited with code 3; its last line on stderr: ..."
  bool is_closed_ = false;
  bool is_being_checked_ = false;
  io::CancelSource idle_watch_;
  io::CancelSource alive_check_;
  std::weak_ptr<ServerConnection> lane_;
  std::shared_ptr<launch::ServerLog> log_;
  std::unique_ptr<PeerConnection> connection_;  // last: it goes first, and may still talk to the observer
};

}  // namespace relay::upstream
