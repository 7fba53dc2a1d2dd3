// SessionTable: named sessions, each with the child that keeps its variables.
//
// A session belongs to an owner and a runtime; nobody else can name it. It is idle, busy (a run uses its
// child), or lost (its child was killed: the next run of that name starts afresh and is told why). Idle ones
// end after a while. A client with too many loses its longest idle one; when there are too many in all, those
// that were not used for limits::kGuestSessionSafe go, and nobody's newer ones.
// Bound to this process, whose children they are (docs/decisions/0031-room-for-a-second-machine.md).
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/limits.h"
#include "executors/run.h"
#include "executors/run_child.h"

namespace relay::executors {

struct SessionInfo {
  std::string name;
  Runtime runtime = Runtime::quickjs;
  std::string state;  // idle, busy, lost
  std::uint64_t runs = 0;
  std::chrono::milliseconds idle{0};
};

class SessionTable {
 public:
  struct Bounds {
    std::size_t total = limits::kGuestSessions;
    std::size_t per_owner = limits::kGuestSessionsPerClient;
    std::chrono::steady_clock::duration idle = limits::kGuestSessionIdle;
    /// Told of each session that is gone in every runtime, so that what belongs to it can go too. Not told
    /// when the table ends. Must not use the table.
    std::function<void(const SessionKey&)> on_end = {};
  };

  SessionTable(const Clock& clock, Bounds bounds) : clock_(clock), bounds_(std::move(bounds)) {}

  struct Lease {
    std::shared_ptr<RunChild> child;  // null: the session needs a fresh one
    std::string note;                 // why earlier variables are gone
  };

  /// Takes the session for one run; makes it when it is new. Fails when it is busy, or when there are too
  /// many.
  Result<Lease> take(const SessionKey& key, Runtime runtime, SessionStart start);
  /// After the run: with the child that waits for the next one, or with the reason why there is none.
  void give_back(const SessionKey& key, Runtime runtime, std::shared_ptr<RunChild> child,
                 std::string lost_because);

  /// Ends the session and forgets its variables. False when there is none of that name.
  bool reset(const SessionKey& key);
  /// Ends all of an owner's.
  void drop(std::string_view owner);
  /// Ends those that have been idle too long.
  void sweep();
  void clear() { sessions_.clear(); }

  [[nodiscard]] std::vector<SessionInfo> list(std::string_view owner) const;
  [[nodiscard]] bool contains(const SessionKey& key, Runtime runtime) const {
    return sessions_.contains({key, runtime});
  }
  [[nodiscard]] std::size_t size() const { return sessions_.size(); }

 private:
  struct Key {
    SessionKey session;
    Runtime runtime;
    auto operator<=>(const Key&) const = default;
  };
  struct Session {
    std::shared_ptr<RunChild> child;
    bool busy = false;
    bool forget = false;  // reset while busy: the child is not kept
    std::string lost_because;
    std::uint64_t runs = 0;
    MonoTime used;
  };

  std::map<Key, Session>::iterator end_session(std::map<Key, Session>::iterator entry);
  Result<void> make_room(std::string_view owner);
  [[nodiscard]] std::size_t count(std::string_view owner) const;
  std::map<Key, Session>::iterator longest_idle(const std::optional<std::string_view>& owner);
  bool evict_idle(std::string_view owner);
  bool evict_forgotten();

  const Clock& clock_;
  Bounds bounds_;
  std::map<Key, Session> sessions_;
};

}  // namespace relay::executors
