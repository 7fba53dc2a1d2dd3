#include "mcp/session.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/limits.h"

namespace relay::mcp {
namespace {

constexpr std::size_t kKeptStreams = 64;  // for one session; each is bounded by kReplayBytes

}  // namespace

protocol::Id Session::add_ask(const std::shared_ptr<PendingAsk>& ask) {
  const protocol::Id id = protocol::Id::string(fmt::format("relay-{}", ++last_ask_));
  asks_.emplace(id.text(), ask);
  return id;
}

void Session::take_answer(protocol::Response response) {
  const auto found = asks_.find(response.id.text());
  if (found == asks_.end()) return;
  const std::shared_ptr<PendingAsk> ask = std::move(found->second);
  asks_.erase(found);
  ask->answer = std::move(response.outcome);
  ask->answered.set();
}

void Session::keep(const std::shared_ptr<MessageStream>& stream, MonoTime now) {
  stream->id = ++last_stream_;
  streams_.push_back({stream, now});
  const auto is_stale = [&](const KeptStream& kept) {
    return kept.stream->finished() && now - kept.kept_at > limits::kReplayKept;
  };
  while (!streams_.empty() && (streams_.size() > kKeptStreams || is_stale(streams_.front())))
    streams_.pop_front();
}

std::shared_ptr<MessageStream> Session::find_stream(std::uint64_t id) const {
  if (id == 0) return get_stream;
  const auto found =
      std::ranges::find_if(streams_, [&](const KeptStream& kept) { return kept.stream->id == id; });
  return found == streams_.end() ? nullptr : found->stream;
}

void Session::end() {
  if (std::exchange(ended_, true)) return;
  in_flight->abandon_all();
  if (on_end) on_end(*this);
  for (const auto& [id, ask] : std::exchange(asks_, {})) {
    ask->answer =
        std::unexpected(protocol::RpcError{protocol::code::kInternalError, "the session ended", {}});
    ask->answered.set();
  }
  if (unsolicited) unsolicited->finish({});
}

}  // namespace relay::mcp
