#include "mcp/stdio.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/bytes.h"
#include "io/child.h"
#include "io/line_outbox.h"
#include "mcp/batch_reply.h"
#include "mcp/legacy_dispatcher.h"
#include "mcp/modern_dispatcher.h"
#include "mcp/session_store.h"
#include "protocol/id_scanner.h"

namespace relay::mcp {
namespace {

constexpr std::size_t kUnwrittenBytes = 64 * limits::kMiB;  // a peer that does not read gets nothing more

// A peer that does not read gets nothing more; that it is gone shows when the writer ends.
void say(io::LineOutbox& lines, std::string_view message) {
  (void)lines.push(message);
}

class LineReply final : public Reply {
 public:
  explicit LineReply(std::shared_ptr<io::LineOutbox> writer) : writer_(std::move(writer)) {}

 protected:
  void write(std::string message) override { say(*writer_, message); }
  void end(FinalMessage answer) override {
    if (!answer.text.empty()) say(*writer_, answer.text);
  }

 private:
  std::shared_ptr<io::LineOutbox> writer_;
};

// One client on two pipes. It may speak both eras: a probe first, then whichever it likes.
class StdioConnection {
 public:
  StdioConnection(Server& server, std::shared_ptr<io::LineOutbox> writer, authority::Caller caller)
      : server_(server),
        legacy_(server),
        modern_(server),
        writer_(std::move(writer)),
        caller_(std::move(caller)),
        modern_in_flight_(std::make_shared<InFlight>(server.executor())) {}

  /// Completes when the line is taken: a request waits while too many of its kind run, and what the client
  /// sends after it waits with it.
  io::Task<void> take_line(std::string line) {
    protocol::drop_byte_order_mark(line);
    if (trim_ascii(line).empty()) co_return Result<void>{};
    auto incoming = protocol::parse_incoming(std::move(line));
    if (!incoming) refuse(incoming.error());
    if (!incoming) co_return Result<void>{};
    RELAY_CO_CHECK(co_await wait_for_room(*incoming));
    if (incoming->is_batch) {
      take_batch(*std::move(incoming));
    } else if (auto& message = incoming->messages.front(); message) {
      take(*std::move(message));
    } else {
      refuse(message.error());
    }
    co_return Result<void>{};
  }
  /// A line that was too long to be kept; `id` is what could be read of it.
  void refuse_long_line(const protocol::Id& id) {
    refuse(id, protocol::code::kInvalidRequest,
           fmt::format("the message is over {} bytes", server_.options().line_bytes));
  }
  void end() {
    modern_in_flight_->abandon_all();
    if (session_) server_.sessions().end(std::string(session_->caller.session_id));
  }

 private:
  // Answers and notifications never wait: what runs may wait for them.
  io::Task<void> wait_for_room(const protocol::Incoming& incoming) {
    const bool asks = std::ranges::any_of(incoming.messages, [](const auto& message) {
      return message && std::holds_alternative<protocol::Request>(*message);
    });
    if (asks) RELAY_CO_CHECK(co_await modern_in_flight_->wait_for_room());
    if (asks && session_) RELAY_CO_CHECK(co_await session_->in_flight->wait_for_room());
    co_return Result<void>{};
  }
  void refuse(const protocol::MalformedMessage& refusal) {
    say(*writer_, protocol::write_error(refusal.id, refusal.error));
  }
  void refuse(const protocol::Id& id, int code, std::string message) {
    refuse({id, {code, std::move(message), {}}});
  }

  void take(protocol::Message message) {
    if (auto* request = std::get_if<protocol::Request>(&message)) {
      if (protocol::claims_modern_era(request->params)) return take_modern(std::move(*request));
      if (request->method == "initialize" && !session_) return initialize(*request);
      return take_legacy(std::move(*request));
    }
    if (auto* notification = std::get_if<protocol::Notification>(&message))
      return take_notification(*notification);
    if (session_) session_->take_answer(std::get<protocol::Response>(std::move(message)));
  }

  void take_modern(protocol::Request request) {
    auto reply = std::make_shared<LineReply>(writer_);
    if (!modern_in_flight_->add(request.id, reply))
      return refuse(request.id, protocol::code::kInvalidRequest, "a request with this id is still running");
    reply->track(modern_in_flight_, request.id.text());
    modern_.handle(caller_, std::move(request), std::move(reply), nullptr);
  }

  void take_legacy(protocol::Request request) {
    if (session_) return legacy_.handle(session_, std::move(request), std::make_shared<LineReply>(writer_));
    if (request.method == "ping") return say(*writer_, protocol::write_result(request.id, "{}"));
    const bool is_probe = request.method == "server/discover";
    refuse(request.id, is_probe ? protocol::code::kInvalidParams : protocol::code::kInvalidRequest,
           is_probe ? "server/discover needs params._meta" : "initialize first");
  }

  void initialize(const protocol::Request& request) {
    auto session =
        std::make_shared<Session>(server_.executor(), caller_, std::make_shared<LineReply>(writer_));
    session->pinned = true;
    session->on_end = [&server = server_](Session& ended) { release(server, ended); };
    const auto result = legacy_.initialize(*session, request);
    if (!result) return refuse({request.id, result.error()});
    if (const auto added = server_.sessions().add(session); !added)
      return refuse({request.id, protocol::to_rpc_error(added.error())});
    session_ = std::move(session);
    say(*writer_, protocol::write_result(request.id, *result));
  }

  void take_notification(const protocol::Notification& notification) {
    if (session_) legacy_.notify(*session_, notification);
    if (notification.method != "notifications/cancelled") return;
    const json::value* id = json::find(notification.params, "requestId");
    if (!id || !(id->is_string() || id->is_int64() || id->is_uint64())) return;
    if (const auto reply = modern_in_flight_->find(protocol::Id::from_text(json::write(*id))))
      reply->abandon();
  }

  void take_batch(protocol::Incoming incoming) {
    if (!session_ || session_->revision != protocol::Revision::v2025_03_26)
      return refuse(protocol::Id(), protocol::code::kInvalidRequest, "batches belong to revision 2025-03-26");
    handle_batch(legacy_, session_, std::move(incoming), std::make_shared<LineReply>(writer_));
  }

  Server& server_;
  LegacyDispatcher legacy_;
  ModernDispatcher modern_;
  std::shared_ptr<io::LineOutbox> writer_;
  authority::Caller caller_;
  std::shared_ptr<Session> session_;
  std::shared_ptr<InFlight> modern_in_flight_;
};

}  // namespace

io::Task<void> serve_stdio(Server& server, io::asio::posix::stream_descriptor& in,
                           io::asio::posix::stream_descriptor& out, authority::Caller caller) {
  auto writer = std::make_shared<io::LineOutbox>(server.executor(), out, kUnwrittenBytes);
  StdioConnection connection(server, writer, std::move(caller));
  io::Event written(server.executor());
  auto write = [](std::shared_ptr<io::LineOutbox> lines, io::Event& done) -> io::Task<void> {
    auto result = co_await lines->run();
    done.set();
    co_return result;
  };
  io::spawn(server.executor(), write(writer, written), "stdout");
  protocol::IdScanner skipped;
  io::LineReader reader(in, server.options().line_bytes,
                        [&skipped](std::string_view bytes) { skipped.feed(bytes); });
  Result<void> ended;
  while (!written.is_set()) {
    auto line = co_await reader.read_line();
    if (!line && line.error().kind == ErrorKind::too_large) {
      connection.refuse_long_line(std::exchange(skipped, {}).id());
      continue;
    }
    if (!line) ended = std::unexpected(line.error());
    if (!line || !*line) break;
    RELAY_CO_CHECK(co_await connection.take_line(**std::move(line)));
  }
  connection.end();
  writer->close();
  RELAY_CO_CHECK(co_await written.wait());
  co_return ended;
}

}  // namespace relay::mcp
