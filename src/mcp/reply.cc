#include "mcp/reply.h"

#include "base/limits.h"

namespace relay::mcp {

io::Task<void> InFlight::wait_for_room() {
  while (replies_.size() >= limits::kRequestsPerSession) {
    freed_.clear();
    RELAY_CO_CHECK(co_await freed_.wait());
  }
  co_return Result<void>{};
}

std::shared_ptr<Reply> InFlight::find(const protocol::Id& id) const {
  const auto found = replies_.find(id.text());
  return found == replies_.end() ? nullptr : found->second.lock();
}

void InFlight::abandon_all() {
  // Abandoning removes entries: walk over a copy.
  std::vector<std::shared_ptr<Reply>> alive;
  for (const auto& [id, reply] : replies_)
    if (auto locked = reply.lock()) alive.push_back(std::move(locked));
  for (const auto& reply : alive) reply->abandon();
}

void Reply::finish(FinalMessage answer) {
  if (finished_) return;
  finished_ = true;
  on_abandon_ = nullptr;
  if (!id_text_.empty())
    if (const auto in_flight = in_flight_.lock()) in_flight->remove(id_text_);
  end(std::move(answer));
}

void Reply::abandon() {
  if (finished_) return;
  if (auto action = std::exchange(on_abandon_, nullptr)) action();
}

}  // namespace relay::mcp
