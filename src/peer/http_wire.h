// The wire over streamable HTTP, in both eras: every message is a POST, its answer a JSON body or a stream of
// events.
//
// Legacy: a session that initialize begins, a GET stream for what the server says unasked, resumption of
// streams that break, DELETE at the end; a session that the server has lost is begun anew once a request.
// Modern: none of that, but header fields that repeat the body, and closing the stream cancels. Each request
// is a coroutine of its own that reads its stream to the end.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "io/event.h"
#include "io/spawn.h"
#include "net/sse_reader.h"
#include "peer/http_channel.h"
#include "peer/peer_wire.h"

namespace relay::peer {

class HttpWire final : public Wire, public std::enable_shared_from_this<HttpWire> {
 public:
  HttpWire(io::Loop executor, std::shared_ptr<HttpChannel> channel)
      : executor_(std::move(executor)), channel_(std::move(channel)) {}

  /// Which era's rules hold; the probe changes its mind at most once.
  void speak(protocol::Era era) { era_ = era; }

  void listen(std::weak_ptr<WireListener> listener) override { listener_ = std::move(listener); }
  Result<void> send(WireRequest request) override;
  io::Task<void> deliver(std::string message) override;
  void abandon(RequestId id) override;
  [[nodiscard]] Cancelling cancelling() const override;
  [[nodiscard]] bool repeats_in_headers() const override { return era_ == protocol::Era::modern; }
  void renew_with(std::function<io::Task<void>()> handshake) override { handshake_ = std::move(handshake); }
  void agree(protocol::Revision revision) override { revision_ = revision; }
  void settle() override;
  io::Task<void> close() override;
  void drop() override;

 private:
  using Self = std::shared_ptr<HttpWire>;
  using Response = std::unique_ptr<net::ClientResponse>;
  // Where a broken stream goes on: after which event, and how long the server wants us to wait.
  struct Place {
    std::optional<std::string> last_id;
    std::chrono::milliseconds pause = limits::kSseRetry;
  };

  static io::Task<void> carry(Self self, WireRequest request);
  io::Task<void> exchange(const WireRequest& request);
  io::Task<void> take_response(Response response, const WireRequest& request);
  io::Task<void> take_body(net::ClientResponse& response, RequestId id);
  io::Task<void> take_stream(Response response, RequestId id);
  /// Hands on what comes until the stream ends or breaks; false when the answer is still missing then.
  io::Task<bool> read_events(Response response, std::optional<RequestId> id, Place& place);
  io::Task<Response> resume(const Place& place);

  static io::Task<void> keep_stream(Self self);
  io::Task<bool> read_stream_once(Place& place);
  io::Task<void> renew(std::string lost_session);

  [[nodiscard]] net::Headers post_fields(const WireRequest* request) const;
  [[nodiscard]] net::Headers get_fields(const Place& place) const;
  void add_session_fields(net::Headers& fields) const;
  Result<void> take_session(const net::Headers& fields);

  io::Loop executor_;
  std::shared_ptr<HttpChannel> channel_;
  std::weak_ptr<WireListener> listener_;
  protocol::Era era_ = protocol::Era::legacy;
  std::optional<protocol::Revision> revision_;
  std::string session_;
  std::function<io::Task<void>()> handshake_;
  std::shared_ptr<io::Event> renewing_;  // set when a renewal has ended, well or not
  std::map<RequestId, io::CancelSource> transfers_;
  std::optional<io::CancelSource> stream_;
};

}  // namespace relay::peer
