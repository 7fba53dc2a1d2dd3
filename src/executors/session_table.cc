#include "executors/session_table.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace relay::executors {

Result<SessionTable::Lease> SessionTable::take(const SessionKey& key, Runtime runtime, SessionStart start) {
  if (key.name.empty() || key.name.size() > limits::kSessionNameBytes)
    return fail(invalid(fmt::format("a session name has 1 to {} bytes", limits::kSessionNameBytes)));
  sweep();
  auto entry = sessions_.find({key, runtime});
  if (entry == sessions_.end()) {
    RELAY_CHECK(make_room(key.owner));
    entry = sessions_.try_emplace({key, runtime}).first;
  }
  Session& session = entry->second;
  if (session.busy)
    return fail(busy(
        fmt::format("session \"{}\" is running another call; wait for it, or use another name", key.name)));
  if (start == SessionStart::reset) session.child.reset();
  if (session.child && !session.child->alive()) {
    session.child.reset();
    session.lost_because = "its process ended while it was idle";
  }
  Lease lease{session.child, {}};
  if (!lease.child && !session.lost_because.empty() && start == SessionStart::keep)
    lease.note = fmt::format("session \"{}\" starts afresh: {}; its variables are gone", key.name,
                             session.lost_because);
  session.lost_because.clear();
  session.busy = true;
  session.used = clock_.mono();
  return lease;
}

void SessionTable::give_back(const SessionKey& key, Runtime runtime, std::shared_ptr<RunChild> child,
                             std::string lost_because) {
  const auto entry = sessions_.find({key, runtime});
  if (entry == sessions_.end()) return;
  Session& session = entry->second;
  session.busy = false;
  session.used = clock_.mono();
  ++session.runs;
  if (std::exchange(session.forget, false)) {
    end_session(entry);
    return;
  }
  session.child = std::move(child);
  session.lost_because = std::move(lost_because);
}

bool SessionTable::reset(const SessionKey& key) {
  bool found = false;
  for (const Runtime runtime : kRuntimes) {
    const auto entry = sessions_.find({key, runtime});
    if (entry == sessions_.end()) continue;
    found = true;
    if (entry->second.busy)
      entry->second.forget = true;
    else
      end_session(entry);
  }
  return found;
}

void SessionTable::drop(std::string_view owner) {
  for (auto entry = sessions_.begin(); entry != sessions_.end();) {
    const bool theirs = entry->first.session.owner == owner;
    if (theirs && entry->second.busy) entry->second.forget = true;
    entry = theirs && !entry->second.busy ? end_session(entry) : std::next(entry);
  }
}

void SessionTable::sweep() {
  const MonoTime now = clock_.mono();
  for (auto entry = sessions_.begin(); entry != sessions_.end();) {
    const bool is_over = !entry->second.busy && now - entry->second.used > bounds_.idle;
    entry = is_over ? end_session(entry) : std::next(entry);
  }
}

std::map<SessionTable::Key, SessionTable::Session>::iterator SessionTable::end_session(
    std::map<Key, Session>::iterator entry) {
  const SessionKey key = entry->first.session;
  const auto next = sessions_.erase(entry);
  const bool is_elsewhere =
      std::ranges::any_of(kRuntimes, [&](Runtime runtime) { return contains(key, runtime); });
  if (!is_elsewhere && bounds_.on_end) bounds_.on_end(key);
  return next;
}

std::size_t SessionTable::count(std::string_view owner) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      sessions_, [&](const auto& entry) { return entry.first.session.owner == owner; }));
}

std::map<SessionTable::Key, SessionTable::Session>::iterator SessionTable::longest_idle(
    const std::optional<std::string_view>& owner) {
  auto oldest = sessions_.end();
  for (auto entry = sessions_.begin(); entry != sessions_.end(); ++entry) {
    if (entry->second.busy || (owner && entry->first.session.owner != *owner)) continue;
    if (oldest == sessions_.end() || entry->second.used < oldest->second.used) oldest = entry;
  }
  return oldest;
}

bool SessionTable::evict_idle(std::string_view owner) {
  const auto oldest = longest_idle(owner);
  if (oldest == sessions_.end()) return false;
  end_session(oldest);
  return true;
}

// One client takes nothing from another but what that one has not used for a while.
bool SessionTable::evict_forgotten() {
  const auto oldest = longest_idle(std::nullopt);
  if (oldest == sessions_.end() || clock_.mono() - oldest->second.used < limits::kGuestSessionSafe)
    return false;
  end_session(oldest);
  return true;
}

Result<void> SessionTable::make_room(std::string_view owner) {
  if (count(owner) >= bounds_.per_owner && !evict_idle(owner))
    return fail(busy(fmt::format("all {} sessions of this client are busy", bounds_.per_owner)));
  if (sessions_.size() >= bounds_.total && !evict_idle(owner) && !evict_forgotten())
    return fail(busy(fmt::format("all {} sessions are in use", bounds_.total)));
  return {};
}

std::vector<SessionInfo> SessionTable::list(std::string_view owner) const {
  std::vector<SessionInfo> infos;
  for (const auto& [key, session] : sessions_) {
    if (key.session.owner != owner) continue;
    const char* state = session.busy ? "busy" : session.child ? "idle" : "lost";
    const auto idle = std::chrono::duration_cast<std::chrono::milliseconds>(clock_.mono() - session.used);
    infos.push_back({key.session.name, key.runtime, state, session.runs, idle});
  }
  return infos;
}

}  // namespace relay::executors
