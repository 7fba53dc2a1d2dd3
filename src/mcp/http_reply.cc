#include "mcp/http_reply.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/limits.h"
#include "io/spawn.h"
#include "net/sse.h"

namespace relay::mcp {
namespace {

// Looks after a connection while a reply is not finished: notices that the client went away, and when it is
// time for a sign of life. It begins after a moment, because most replies are there by then and need not pay
// for it.
class Attendant {
 public:
  Attendant(const io::Loop& executor, net::HttpExchange& exchange,
            const std::shared_ptr<MessageStream>& stream)
      : begin_(executor, kMoment) {
    begin_.async_wait([this, alive = std::weak_ptr<State>(state_), executor, &exchange,
                       stream](const boost::system::error_code& error) {
      if (error || alive.expired()) return;  // expired and queued is not cancelled: we may be gone by now
      io::spawn(executor, watch(exchange.peer_gone(), state_, stream), "peer watch", watching_);
      io::spawn(executor, tick(state_, stream), "keep-alive", ticking_);
    });
  }
  Attendant(const Attendant&) = delete;
  Attendant& operator=(const Attendant&) = delete;
  ~Attendant() {
    begin_.cancel();
    watching_.cancel();
    ticking_.cancel();
  }
  [[nodiscard]] bool gone() const { return state_->gone; }
  bool take_tick() { return std::exchange(state_->tick, false); }

 private:
  struct State {
    bool gone = false;
    bool tick = false;
  };
  static io::Task<void> watch(io::Event& peer_gone, std::shared_ptr<State> state,
                              std::shared_ptr<MessageStream> stream) {
    RELAY_CO_CHECK(co_await peer_gone.wait());
    state->gone = true;
    stream->changed().wake();
    co_return Result<void>{};
  }
  static io::Task<void> tick(std::shared_ptr<State> state, std::shared_ptr<MessageStream> stream) {
    for (;;) {
      RELAY_CO_CHECK(co_await io::sleep_for(limits::kSseKeepAlive));
      state->tick = true;
      stream->changed().wake();
    }
  }
  static constexpr auto kMoment = std::chrono::milliseconds(10);

  io::asio::steady_timer begin_;
  std::shared_ptr<State> state_ = std::make_shared<State>();
  io::CancelSource watching_;
  io::CancelSource ticking_;
};

// A modern call ends with its connection, however the connection ends.
struct AbandonModern {
  MessageStream& stream;
  bool is_modern;
  ~AbandonModern() {
    if (is_modern) stream.abandon();
  }
};

bool is_plain(const MessageStream& stream, const ReplyStyle& style) {
  return stream.has_answer() && !stream.has_messages() && style.accepts.json;
}

io::Task<void> respond_plain(net::HttpExchange& exchange, MessageStream& stream, ReplyStyle& style) {
  FinalMessage answer = *stream.take_answer();
  net::HttpResponse response = json_answer(std::move(answer));
  for (const auto& [name, value] : style.headers) response.headers.add(name, value);
  return exchange.respond(std::move(response));
}

net::Headers event_headers(const ReplyStyle& style) {
  net::Headers headers{{"Content-Type", "text/event-stream"},
                       {"Cache-Control", "no-cache, no-transform"},
                       {"X-Accel-Buffering", "no"}};
  for (const auto& [name, value] : style.headers) headers.add(name, value);
  return headers;
}

std::string format_entry(const MessageStream& stream, MessageStream::Entry entry, bool with_id) {
  net::SseEvent event;
  event.data = std::move(entry.text);
  if (with_id) event.id = format_event_id(stream.id, entry.number);
  return net::format_sse(event);
}

// An id to come back with before anything was said, and how long to wait until then.
std::string format_priming(const MessageStream& stream, std::uint64_t after) {
  return "id: " + format_event_id(stream.id, after) +
         "\nretry: " + std::to_string(std::chrono::milliseconds(limits::kSseRetry).count()) + "\ndata: \n\n";
}

io::Task<void> write_events(net::BodyStream& body, MessageStream& stream, std::uint64_t ticket,
                            Attendant& attendant, bool with_ids) {
  while (!attendant.gone() && stream.is_writer(ticket)) {
    if (auto entry = stream.take()) {
      const std::string text = format_entry(stream, *std::move(entry), with_ids);
      RELAY_CO_CHECK(co_await body.write(text));
    } else if (stream.is_drained() || stream.take_close_request()) {
      co_return co_await body.finish();
    } else if (attendant.take_tick()) {
      RELAY_CO_CHECK(co_await body.write(net::format_sse_comment("keep-alive")));
    } else {
      co_await stream.changed().wait();
    }
  }
  // Another connection carries on with this stream: this one ends properly.
  if (!attendant.gone()) co_return co_await body.finish();
  co_return Result<void>{};
}

// A client that went away is no error of ours.
Result<void> forgive_gone(Result<void> written) {
  if (!written && written.error().kind == ErrorKind::unavailable) return {};
  return written;
}

io::Task<void> stream_events(net::HttpExchange& exchange, MessageStream& stream, std::uint64_t after,
                             std::uint64_t ticket, Attendant& attendant, const ReplyStyle& style) {
  stream.turn_into_events();
  net::Headers headers = event_headers(style);
  auto body = co_await exchange.start_stream(200, std::move(headers));
  if (!body) co_return forgive_gone(std::unexpected(body.error()));
  if (!style.first_event.empty())
    if (auto written = co_await (*body)->write(style.first_event); !written)
      co_return forgive_gone(std::move(written));
  const bool with_ids = style.session != nullptr;
  if (with_ids && style.session->revision >= protocol::Revision::v2025_11_25) {
    const std::string priming = format_priming(stream, after);
    if (auto written = co_await (*body)->write(priming); !written) co_return forgive_gone(std::move(written));
  }
  co_return forgive_gone(co_await write_events(**body, stream, ticket, attendant, with_ids));
}

}  // namespace

Accepts parse_accept(const net::Headers& headers) {
  const auto accept = headers.find("Accept");
  if (!accept) return {};
  const std::string text = to_lower_ascii(*accept);
  const bool all = text.find("*/*") != std::string::npos;
  return {
      all || text.find("application/json") != std::string::npos ||
          text.find("application/*") != std::string::npos,
      all || text.find("text/event-stream") != std::string::npos || text.find("text/*") != std::string::npos};
}

net::HttpResponse json_answer(FinalMessage answer) {
  if (answer.text.empty()) return net::HttpResponse{202, {}, {}};
  return net::json_response(answer.http_status, std::move(answer.text));
}

io::Task<void> send_reply(net::HttpExchange& exchange, std::shared_ptr<MessageStream> stream,
                          ReplyStyle style) {
  const AbandonModern abandon{*stream, style.session == nullptr};
  if (is_plain(*stream, style)) co_return co_await respond_plain(exchange, *stream, style);
  const std::uint64_t ticket = stream->attach();
  Attendant attendant(co_await io::asio::this_coro::executor, exchange, stream);
  while (!stream->has_answer() && !stream->has_messages() && !attendant.gone() &&
         !stream->close_requested()) {
    // A long silence makes clients and proxies give up: start the events, then there is something to say.
    if (attendant.take_tick() && style.accepts.events) break;
    co_await stream->changed().wait();
  }
  if (attendant.gone()) co_return Result<void>{};
  if (is_plain(*stream, style)) co_return co_await respond_plain(exchange, *stream, style);
  if (style.session) style.session->keep(stream, style.now);
  co_return co_await stream_events(exchange, *stream, 0, ticket, attendant, style);
}

io::Task<void> send_events(net::HttpExchange& exchange, std::shared_ptr<MessageStream> stream,
                           std::uint64_t after, ReplyStyle style) {
  const std::uint64_t ticket = stream->attach(after);
  Attendant attendant(co_await io::asio::this_coro::executor, exchange, stream);
  co_return co_await stream_events(exchange, *stream, after, ticket, attendant, style);
}

}  // namespace relay::mcp
