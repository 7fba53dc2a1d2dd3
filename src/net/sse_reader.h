// SseReader: the events of a response, one by one. After the stream ends, last_id() is what the next
// request's Last-Event-ID field has to say, and retry() how long to wait before it.
#pragma once

#include <deque>
#include <memory>
#include <optional>

#include "net/http_client.h"
#include "net/sse.h"

namespace relay::net {

class SseReader {
 public:
  explicit SseReader(std::unique_ptr<ClientResponse> response,
                     std::size_t max_event_bytes = limits::kMessageBytes)
      : response_(std::move(response)), parser_(max_event_bytes) {}

  /// Nothing at the end of the stream. Fails when it is cut off or an event is over the limit.
  io::Task<std::optional<SseEvent>> next();
  [[nodiscard]] const std::optional<std::string>& last_id() const { return parser_.last_id(); }
  [[nodiscard]] const std::optional<std::chrono::milliseconds>& retry() const { return parser_.retry(); }

 private:
  std::unique_ptr<ClientResponse> response_;
  SseParser parser_;
  std::deque<SseEvent> events_;
};

/// True when the body is a stream of events.
bool is_event_stream(const Headers& headers);

}  // namespace relay::net
