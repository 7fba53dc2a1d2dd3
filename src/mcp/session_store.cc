#include "mcp/session_store.h"

#include <vector>

#include "base/limits.h"

namespace relay::mcp {

Result<void> SessionStore::add(const std::shared_ptr<Session>& session) {
  if (sessions_.size() >= limits::kSessions) {
    sweep();
    if (sessions_.size() >= limits::kSessions && !make_room())
      return fail(busy("too many sessions: try again later"));
  }
  session->caller.session_id = ids_.make_secret(24);
  session->last_used = clock_.mono();
  sessions_.emplace(session->caller.session_id, session);
  return {};
}

std::shared_ptr<Session> SessionStore::find(std::string_view id, std::string_view principal) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end() || found->second->caller.principal != principal) return nullptr;
  if (is_idle(*found->second)) {
    end(std::string(id));
    return nullptr;
  }
  found->second->last_used = clock_.mono();
  found->second->was_used = true;
  return found->second;
}

void SessionStore::end(const std::string& id) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return;
  const std::shared_ptr<Session> session = std::move(found->second);
  sessions_.erase(found);
  session->end();
}

void SessionStore::end_all() {
  for (const auto& [id, session] : std::exchange(sessions_, {})) session->end();
}

void SessionStore::sweep() {
  std::vector<std::string> idle;
  for (const auto& [id, session] : sessions_)
    if (is_idle(*session)) idle.push_back(id);
  for (const std::string& id : idle) end(id);
}

// A session whose requests still run is in use, however long they take.
bool SessionStore::is_idle(const Session& session) const {
  return !session.pinned && session.in_flight->size() == 0 && clock_.mono() - session.last_used > idle_;
}

// Sessions that were only opened go first, the youngest of them: whoever opens many displaces its own. Then
// one that was not used for a while. A session in use is never taken from its client.
bool SessionStore::make_room() {
  const std::shared_ptr<Session>* youngest_unused = nullptr;
  const std::shared_ptr<Session>* oldest = nullptr;
  for (const auto& [id, session] : sessions_) {
    if (session->pinned || session->in_flight->size() > 0) continue;
    if (!session->was_used && (!youngest_unused || session->last_used > (*youngest_unused)->last_used))
      youngest_unused = &session;
    if (session->was_used && (!oldest || session->last_used < (*oldest)->last_used)) oldest = &session;
  }
  if (oldest && clock_.mono() - (*oldest)->last_used < limits::kSessionSafe) oldest = nullptr;
  const std::shared_ptr<Session>* displaced = youngest_unused ? youngest_unused : oldest;
  if (!displaced) return false;
  end(std::string((*displaced)->caller.session_id));
  return true;
}

}  // namespace relay::mcp
