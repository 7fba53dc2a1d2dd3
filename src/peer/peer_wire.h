// Wire: the bytes between us and a server, below ids and eras. Pipes, streamable HTTP and HTTP+SSE each are
// one.
//
// A wire carries whole JSON-RPC messages out and hands those that come in to its listener, which it does not
// own: one that is gone hears nothing. It knows no exchange and no deadline. Loop thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/task.h"
#include "protocol/revision.h"

namespace relay::peer {

/// Our own ids: every request on a connection gets the next one, and its progress token is the same number.
using RequestId = std::int64_t;

struct WireRequest {
  RequestId id = 0;
  std::string method;
  std::string text;  // the whole message
  std::vector<std::pair<std::string, std::string>>
      headers;  // what modern HTTP repeats of it besides the method
};

class WireListener {
 public:
  virtual ~WireListener() = default;
  /// One message or a batch. `stream_of` is the request on whose own stream it came; nothing where all share
  /// one.
  virtual void take(std::string text, std::optional<RequestId> stream_of) = 0;
  /// This request gets no answer.
  virtual void fail_request(RequestId id, Error error) = 0;
  /// False when the request was answered, failed or cancelled.
  [[nodiscard]] virtual bool awaits(RequestId id) const = 0;
  virtual void oddity(std::string_view text) = 0;
  /// Nothing comes any more.
  virtual void lost(const Error& why) = 0;
};

/// How a server learns that an answer is no longer wanted.
enum class Cancelling : std::uint8_t { by_notification, by_closing_the_stream };

class Wire {
 public:
  virtual ~Wire() = default;

  virtual void listen(std::weak_ptr<WireListener> listener) = 0;
  /// The answer comes to the listener, or a failure.
  virtual Result<void> send(WireRequest request) = 0;
  /// A notification, or the answer to a request of the server; returns when it is on its way.
  virtual io::Task<void> deliver(std::string message) = 0;
  /// Nobody waits for this request any more.
  virtual void abandon(RequestId id) = 0;
  [[nodiscard]] virtual Cancelling cancelling() const = 0;
  /// True when names and marked arguments are repeated in header fields (modern HTTP).
  [[nodiscard]] virtual bool repeats_in_headers() const { return false; }
  /// What to do when the server has forgotten our session. Only HTTP has such sessions.
  virtual void renew_with(std::function<io::Task<void>()>) {}
  /// Both sides speak this revision from here on.
  virtual void agree(protocol::Revision) {}
  /// The handshake is done; what else the transport has to say (a stream for the server's messages) may
  /// begin.
  virtual void settle() {}
  /// Properly, within a moment.
  virtual io::Task<void> close() = 0;
  /// At once.
  virtual void drop() = 0;
};

}  // namespace relay::peer
