#include "peer/http_wire.h"

#include <algorithm>

#include "base/bytes.h"
#include "protocol/jsonrpc.h"

namespace relay::peer {
namespace {

using namespace std::chrono_literals;

constexpr auto kGoodbye = 2s;      // for the DELETE of a session
constexpr auto kAfterAnswer = 1s;  // a stream may end by itself, so that its connection can be used again
constexpr std::size_t kSessionBytes = 1024;

bool is_session_text(std::string_view text) {
  return !text.empty() && text.size() <= kSessionBytes &&
         std::ranges::all_of(text, [](char c) { return c > 0x20 && c < 0x7f; });
}

bool is_success(int status) {
  return status >= 200 && status < 300;
}

// An error in JSON-RPC terms says more than the status it came with.
bool holds_rpc_error(const std::string& body) {
  if (!trim_ascii(body).starts_with('{')) return false;
  const auto message = protocol::parse_message(body);
  const auto* response = message ? std::get_if<protocol::Response>(&*message) : nullptr;
  return response && !response->outcome;
}

// What a renewal itself says must not wait for the renewal.
bool belongs_to_handshake(std::string_view method) {
  return method == "initialize" || method == "logging/setLevel" || method == "resources/subscribe";
}

}  // namespace

Cancelling HttpWire::cancelling() const {
  return era_ == protocol::Era::modern ? Cancelling::by_closing_the_stream : Cancelling::by_notification;
}

Result<void> HttpWire::send(WireRequest request) {
  io::CancelSource cancel;
  transfers_.insert_or_assign(request.id, cancel);
  io::spawn(executor_, carry(shared_from_this(), std::move(request)), "upstream request", cancel);
  return {};
}

void HttpWire::abandon(RequestId id) {
  const auto found = transfers_.extract(id);
  if (!found.empty()) found.mapped().cancel();
}

io::Task<void> HttpWire::carry(Self self, WireRequest request) {
  const auto done = co_await self->exchange(request);
  self->transfers_.erase(request.id);
  const auto listener = self->listener_.lock();
  if (listener && listener->awaits(request.id))
    listener->fail_request(
        request.id, done ? unavailable("the server ended the stream without an answer") : done.error());
  co_return Result<void>{};
}

io::Task<void> HttpWire::exchange(const WireRequest& request) {
  for (int attempt = 0;; ++attempt) {
    if (const auto renewing = renewing_; renewing && !belongs_to_handshake(request.method))
      RELAY_CO_CHECK(co_await renewing->wait());
    const std::string session = request.method == "initialize" ? std::string() : session_;
    RELAY_CO_TRY(Response response,
                 co_await channel_->send("POST", channel_->endpoint(), post_fields(&request), request.text));
    const bool forgotten = response->status() == 404 && !session.empty() && attempt == 0;
    if (!forgotten) co_return co_await take_response(std::move(response), request);
    response.reset();
    if (renewing_ && belongs_to_handshake(request.method))
      co_return fail(unavailable("the server lost the session again"));
    RELAY_CO_CHECK(co_await renew(session));
  }
}

io::Task<void> HttpWire::take_response(Response response, const WireRequest& request) {
  if (request.method == "initialize" && is_success(response->status()))
    RELAY_CO_CHECK(take_session(response->headers()));
  if (is_success(response->status()) && net::is_event_stream(response->headers()))
    co_return co_await take_stream(std::move(response), request.id);
  co_return co_await take_body(*response, request.id);
}

io::Task<void> HttpWire::take_body(net::ClientResponse& response, RequestId id) {
  RELAY_CO_TRY(std::string body, co_await read_body(response));
  const int status = response.status();
  if (!is_success(status) && !holds_rpc_error(body)) co_return fail(http_failure(status, body));
  if (const auto listener = listener_.lock()) listener->take(std::move(body), id);
  co_return Result<void>{};
}

io::Task<void> HttpWire::take_stream(Response response, RequestId id) {
  Place place;
  int broken = 0;
  while (true) {
    const auto before = place.last_id;
    RELAY_CO_TRY(const bool answered, co_await read_events(std::move(response), id, place));
    if (answered) co_return Result<void>{};
    broken = place.last_id == before ? broken + 1 : 0;
    if (era_ == protocol::Era::modern || !place.last_id || broken > limits::kUpstreamReconnects)
      co_return fail(unavailable("the server ended the stream before the answer"));
    RELAY_CO_CHECK(co_await io::sleep_for(place.pause));
    RELAY_CO_TRY(response, co_await resume(place));
  }
}

io::Task<bool> HttpWire::read_events(Response response, std::optional<RequestId> id, Place& place) {
  net::SseReader reader(std::move(response));
  bool answered = false;
  while (true) {
    auto event = answered ? co_await io::with_timeout(reader.next(), kAfterAnswer, "the end of a stream")
                          : co_await reader.next();
    if (reader.last_id()) place.last_id = reader.last_id();
    if (reader.retry()) place.pause = *reader.retry();
    if (!event && event.error().kind == ErrorKind::too_large) co_return fail(std::move(event.error()));
    if (!event || !*event) co_return answered;
    const auto listener = listener_.lock();
    if (!listener) co_return fail(cancelled());
    if (!(*event)->data.empty() && ((*event)->event.empty() || (*event)->event == "message"))
      listener->take(std::move((*event)->data), id);
    answered = id && !listener->awaits(*id);
  }
}

io::Task<HttpWire::Response> HttpWire::resume(const Place& place) {
  RELAY_CO_TRY(Response response,
               co_await channel_->send("GET", channel_->endpoint(), get_fields(place), {}));
  if (is_success(response->status()) && net::is_event_stream(response->headers())) co_return response;
  co_return fail(http_failure(response->status(), "the broken stream cannot be resumed"));
}

io::Task<void> HttpWire::deliver(std::string message) {
  const auto keep = shared_from_this();
  RELAY_CO_TRY(const Response response, co_await channel_->send("POST", channel_->endpoint(),
                                                                post_fields(nullptr), std::move(message)));
  if (is_success(response->status())) co_return Result<void>{};
  co_return fail(http_failure(response->status(), {}));
}

// One renewal at a time, out of reach of whoever noticed the loss: the others wait for it and use the same
// session.
io::Task<void> HttpWire::renew(std::string lost_session) {
  if (session_ != lost_session) co_return Result<void>{};
  if (renewing_) {
    const auto renewing = renewing_;
    co_return co_await renewing->wait();
  }
  if (!handshake_) co_return fail(unavailable("the server lost the session"));
  const auto renewing = renewing_ = std::make_shared<io::Event>(executor_);
  session_.clear();
  auto run = [](Self self, std::shared_ptr<io::Event> ended) -> io::Task<void> {
    auto renewed = co_await self->handshake_();
    self->renewing_.reset();
    ended->set();
    co_return renewed;
  };
  co_return co_await io::join(executor_, run(shared_from_this(), renewing));
}

Result<void> HttpWire::take_session(const net::Headers& fields) {
  const auto given = fields.find("Mcp-Session-Id");
  if (given && !is_session_text(*given)) return fail(unavailable("the server's session id is malformed"));
  session_ = given.value_or("");
  return {};
}

void HttpWire::add_session_fields(net::Headers& fields) const {
  if (revision_) fields.set("MCP-Protocol-Version", std::string(protocol::name_of(*revision_)));
  if (!session_.empty()) fields.set("Mcp-Session-Id", session_);
}

net::Headers HttpWire::post_fields(const WireRequest* request) const {
  net::Headers fields{{"Content-Type", "application/json"},
                      {"Accept", "application/json, text/event-stream"}};
  if (era_ == protocol::Era::legacy) {
    if (!request || request->method != "initialize") add_session_fields(fields);
    return fields;
  }
  fields.set("MCP-Protocol-Version", std::string(protocol::name_of(protocol::kLatestModern)));
  if (!request) return fields;
  fields.set("Mcp-Method", request->method);
  for (const auto& [name, value] : request->headers) fields.set(name, value);
  return fields;
}

io::Task<void> HttpWire::close() {
  const auto keep = shared_from_this();
  if (stream_) stream_->cancel();
  if (era_ == protocol::Era::modern || session_.empty()) co_return Result<void>{};
  net::Headers fields;
  add_session_fields(fields);
  session_.clear();
  // Whether the server takes it or not (405), the session is over for us.
  [[maybe_unused]] const auto ignored = co_await io::with_timeout(
      channel_->send("DELETE", channel_->endpoint(), fields, {}), kGoodbye, "DELETE of the session");
  co_return Result<void>{};
}

void HttpWire::drop() {
  if (stream_) stream_->cancel();
  for (auto& [id, cancel] : std::exchange(transfers_, {})) cancel.cancel();
}

}  // namespace relay::peer
