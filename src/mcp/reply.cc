#include "mcp/reply.h"

#include "base/limits.h"

namespace relay::mcp {

InFlight::Admission InFlight::add(const protocol::Id& id, const std::shared_ptr<Reply>& reply) {
  if (replies_.size() >= limits::kRequestsPerSession) return Admission::too_many;
  const bool is_new = replies_.emplace(id.text(), reply).second;
  return is_new ? Admission::admitted : Admission::duplicate;
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
