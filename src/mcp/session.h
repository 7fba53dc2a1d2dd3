// Session: a legacy client between `initialize` and its end, over any transport.
//
// It is bound to the principal that opened it; its id is a secret but never enough. It knows what the client
// can do and wants (log level, subscriptions), which of its requests run, and which of our own wait for an
// answer.
#pragma once

#include <chrono>
#include <deque>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

#include "authority/caller.h"
#include "base/clock.h"
#include "io/event.h"
#include "mcp/message_stream.h"
#include "mcp/reply.h"
#include "protocol/capabilities.h"
#include "protocol/log_level.h"
#include "protocol/revision.h"

namespace relay::mcp {

/// A request of ours that the client has not answered yet.
struct PendingAsk {
  explicit PendingAsk(const io::Loop& executor) : answered(executor) {}
  io::Event answered;
  std::optional<std::expected<json::value, protocol::RpcError>> answer;
};

class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(io::Loop executor, authority::Caller caller, std::shared_ptr<Reply> unsolicited)
      : caller(std::move(caller)),
        unsolicited(std::move(unsolicited)),
        in_flight(std::make_shared<InFlight>(executor)),
        executor_(std::move(executor)) {}

  authority::Caller caller;
  protocol::Revision revision = protocol::kLatestLegacy;
  protocol::ClientCapabilities client;
  protocol::LogLevel level = protocol::LogLevel::info;
  bool initialized = false;  // notifications/initialized came: lists may be announced
  bool was_used = false;     // a request came after initialize
  std::set<std::string, std::less<>> subscriptions;
  /// Where messages go that belong to no request: the GET stream, stdout.
  std::shared_ptr<Reply> unsolicited;
  /// The same on HTTP, where GET requests attach to it: stream 0.
  std::shared_ptr<MessageStream> get_stream;
  std::shared_ptr<InFlight> in_flight;
  MonoTime last_used{};
  bool pinned = false;                   // lives as long as its connection: stdio, old SSE
  std::function<void(Session&)> on_end;  // releases what the session holds elsewhere

  /// Registers a question and gives the id to send it with.
  protocol::Id add_ask(const std::shared_ptr<PendingAsk>& ask);
  void remove_ask(const protocol::Id& id) { asks_.erase(id.text()); }
  /// An answer to a question that was never asked, or is over, is dropped.
  void take_answer(protocol::Response response);

  /// Streams that a client may resume. The oldest are forgotten.
  void keep(const std::shared_ptr<MessageStream>& stream, MonoTime now);
  [[nodiscard]] std::shared_ptr<MessageStream> find_stream(std::uint64_t id) const;

  void end();
  [[nodiscard]] bool ended() const { return ended_; }

 private:
  struct KeptStream {
    std::shared_ptr<MessageStream> stream;
    MonoTime kept_at;
  };
  io::Loop executor_;
  std::unordered_map<std::string, std::shared_ptr<PendingAsk>> asks_;
  std::int64_t last_ask_ = 0;
  std::deque<KeptStream> streams_;
  std::uint64_t last_stream_ = 0;
  bool ended_ = false;
};

}  // namespace relay::mcp
