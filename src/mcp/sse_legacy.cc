#include "mcp/sse_legacy.h"

#include "mcp/http_reply.h"
#include "mcp/legacy_dispatcher.h"
#include "mcp/session_store.h"
#include "net/sse.h"

namespace relay::mcp {
namespace {

net::HttpResponse refusal(int status, std::string message) {
  return net::json_response(
      status,
      protocol::write_error(protocol::Id(), {protocol::code::kInvalidRequest, std::move(message), {}}));
}

// Answers go where everything goes: to the one stream of the session.
class StreamReply final : public Reply {
 public:
  explicit StreamReply(std::shared_ptr<Reply> stream) : stream_(std::move(stream)) {}

 protected:
  void write(std::string message) override { stream_->send(std::move(message)); }
  void end(FinalMessage answer) override {
    if (!answer.text.empty()) stream_->send(std::move(answer.text));
  }

 private:
  std::shared_ptr<Reply> stream_;
};

struct EndSession {
  Server& server;
  const Session& session;
  ~EndSession() { server.sessions().end(std::string(session.caller.session_id)); }
};

}  // namespace

io::Task<void> SseLegacy::serve_stream(net::HttpExchange& exchange, std::string principal) {
  authority::Caller caller{.principal = std::move(principal),
                           .transport = authority::Transport::sse,
                           .remote = exchange.request().remote_address};
  auto stream = std::make_shared<MessageStream>(server_.executor(), MessageStream::Replay::no);
  auto session = std::make_shared<Session>(server_.executor(), std::move(caller), stream);
  session->pinned = true;
  session->get_stream = stream;
  session->revision = protocol::Revision::v2024_11_05;
  session->on_end = [this](Session& ended) { release(server_, ended); };
  RELAY_CO_CHECK(server_.sessions().add(session));
  const EndSession end{server_, *session};
  ReplyStyle style;
  style.first_event =
      net::format_sse({"endpoint", messages_path_ + "?session=" + session->caller.session_id, {}, {}});
  co_return co_await send_events(exchange, std::move(stream), 0, std::move(style));
}

io::Task<void> SseLegacy::serve_message(net::HttpExchange& exchange, std::string principal) {
  const auto id = net::find_query(exchange.request().query, "session");
  const auto session = id ? server_.sessions().find(*id, principal) : nullptr;
  if (!session || session->caller.transport != authority::Transport::sse)
    co_return co_await exchange.respond(refusal(404, "Session not found"));
  RELAY_CO_TRY(std::string body, co_await exchange.read_body());
  protocol::drop_byte_order_mark(body);
  auto message = protocol::parse_message(std::move(body));
  if (!message) co_return co_await exchange.respond(refusal(400, message.error().error.message));
  LegacyDispatcher dispatcher(server_);
  if (auto* request = std::get_if<protocol::Request>(&*message)) {
    auto reply = std::make_shared<StreamReply>(session->unsolicited);
    if (request->method == "initialize" && !session->initialized) {
      const auto result = dispatcher.initialize(*session, *request);
      reply->finish({result ? protocol::write_result(request->id, *result)
                            : protocol::write_error(request->id, result.error()),
                     200});
    } else {
      RELAY_CO_CHECK(co_await session->in_flight->wait_for_room());
      dispatcher.handle(session, std::move(*request), std::move(reply));
    }
  } else if (auto* notification = std::get_if<protocol::Notification>(&*message)) {
    dispatcher.notify(*session, *notification);
  } else {
    session->take_answer(std::get<protocol::Response>(std::move(*message)));
  }
  co_return co_await exchange.respond(net::HttpResponse{202, {}, {}});
}

}  // namespace relay::mcp
