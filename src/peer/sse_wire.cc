#include "peer/sse_wire.h"

#include <map>

#include "io/spawn.h"
#include "net/sse_reader.h"

namespace relay::peer {
namespace {

using Reader = std::shared_ptr<net::SseReader>;

class SseWire final : public Wire, public std::enable_shared_from_this<SseWire> {
 public:
  SseWire(io::Loop executor, std::shared_ptr<HttpChannel> channel, Reader reader, std::string address)
      : executor_(std::move(executor)),
        channel_(std::move(channel)),
        reader_(std::move(reader)),
        address_(std::move(address)) {}

  void listen(std::weak_ptr<WireListener> listener) override {
    listener_ = std::move(listener);
    io::spawn(executor_, read_all(reader_, listener_), "upstream events", reading_);
  }
  Result<void> send(WireRequest request) override {
    io::CancelSource cancel;
    transfers_.insert_or_assign(request.id, cancel);
    io::spawn(executor_, carry(shared_from_this(), std::move(request)), "upstream request", cancel);
    return {};
  }
  io::Task<void> deliver(std::string message) override {
    const auto keep = shared_from_this();
    net::Headers fields{{"Content-Type", "application/json"}};
    RELAY_CO_TRY(const auto response,
                 co_await channel_->send("POST", address_, std::move(fields), std::move(message)));
    const int status = response->status();
    if (status >= 200 && status < 300) co_return Result<void>{};
    co_return fail(http_failure(status, {}));
  }
  void abandon(RequestId id) override {
    const auto found = transfers_.extract(id);
    if (!found.empty()) found.mapped().cancel();
  }
  [[nodiscard]] Cancelling cancelling() const override { return Cancelling::by_notification; }
  io::Task<void> close() override {
    drop();
    co_return Result<void>{};
  }
  void drop() override {
    reading_.cancel();
    for (auto& [id, cancel] : std::exchange(transfers_, {})) cancel.cancel();
  }

 private:
  // The answer comes on the stream; the POST only says whether it was taken.
  static io::Task<void> carry(std::shared_ptr<SseWire> self, WireRequest request) {
    auto taken = co_await self->deliver(std::move(request.text));
    self->transfers_.erase(request.id);
    if (taken) co_return Result<void>{};
    if (const auto listener = self->listener_.lock())
      listener->fail_request(request.id, std::move(taken.error()));
    co_return Result<void>{};
  }
  static io::Task<void> read_all(Reader reader, std::weak_ptr<WireListener> weak) {
    while (true) {
      auto event = co_await reader->next();
      const auto listener = weak.lock();
      if (!listener) co_return Result<void>{};
      if (!event || !*event) {
        listener->lost(unavailable(event ? "the server ended its event stream"
                                         : "the server's event stream broke: " + event.error().message));
        co_return Result<void>{};
      }
      if ((*event)->event.empty() || (*event)->event == "message")
        listener->take(std::move((*event)->data), std::nullopt);
    }
  }

  io::Loop executor_;
  std::shared_ptr<HttpChannel> channel_;
  Reader reader_;
  std::string address_;
  std::weak_ptr<WireListener> listener_;
  io::CancelSource reading_;
  std::map<RequestId, io::CancelSource> transfers_;
};

}  // namespace

io::Task<std::shared_ptr<Wire>> open_sse_wire(io::Loop executor, std::shared_ptr<HttpChannel> channel) {
  net::Headers fields{{"Accept", "text/event-stream"}};
  RELAY_CO_TRY(auto response, co_await channel->send("GET", channel->endpoint(), std::move(fields), {}));
  if (response->status() != 200)
    co_return fail(http_failure(response->status(), "no event stream is offered"));
  if (!net::is_event_stream(response->headers()))
    co_return fail(unavailable("the server answers GET with something that is no event stream"));
  auto reader = std::make_shared<net::SseReader>(std::move(response));
  RELAY_CO_TRY(const auto first, co_await reader->next());
  if (!first || first->event != "endpoint")
    co_return fail(unavailable("the server's event stream does not begin with an endpoint"));
  RELAY_CO_TRY(std::string address, net::resolve_url(channel->endpoint(), first->data));
  if (!channel->has_endpoints_origin(address))
    co_return fail(denied("the server names an address of another origin for our messages"));
  std::shared_ptr<Wire> wire = std::make_shared<SseWire>(std::move(executor), std::move(channel),
                                                         std::move(reader), std::move(address));
  co_return wire;
}

}  // namespace relay::peer
