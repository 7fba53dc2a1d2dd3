// SessionStore: the legacy sessions of the HTTP transports, by id. Bounded in number and in idle time.
// Bound to this process: another Relay does not know them (docs/decisions/0031-room-for-a-second-machine.md).
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/clock.h"
#include "base/id_maker.h"
#include "base/result.h"
#include "mcp/session.h"

namespace relay::mcp {

class SessionStore {
 public:
  SessionStore(const Clock& clock, IdMaker ids, std::chrono::milliseconds idle)
      : clock_(clock), ids_(std::move(ids)), idle_(idle) {}

  /// Gives the session its id. Fails with `busy` when there are too many that are in use.
  Result<void> add(const std::shared_ptr<Session>& session);
  /// Null for an unknown id, for one that idled too long, and for somebody else's. Counts as a use.
  std::shared_ptr<Session> find(std::string_view id, std::string_view principal);
  void end(const std::string& id);
  void end_all();
  /// Ends what idles too long. Called now and then by the server.
  void sweep();

  template <class Visit>
  void for_each(Visit visit) const {
    for (const auto& [id, session] : sessions_) visit(*session);
  }
  [[nodiscard]] std::size_t size() const { return sessions_.size(); }

 private:
  [[nodiscard]] bool is_idle(const Session& session) const;
  bool make_room();

  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  const Clock& clock_;
  IdMaker ids_;
  std::chrono::milliseconds idle_;
  std::unordered_map<std::string, std::shared_ptr<Session>, TextHash, std::equal_to<>> sessions_;
};

}  // namespace relay::mcp
