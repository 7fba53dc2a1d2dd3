// Server-sent events, both ways: format one for sending, parse a stream that arrives in any pieces. Pure.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "base/result.h"

namespace relay::net {

struct SseEvent {
  std::string event;  // empty: "message"
  std::string data;   // lines joined by \n
  std::optional<std::string> id;
  std::optional<std::chrono::milliseconds> retry;
};

/// "id: 7\nevent: x\ndata: ...\n\n". Data with line breaks becomes several data lines.
std::string format_sse(const SseEvent& event);
/// ": text\n\n"
std::string format_sse_comment(std::string_view text);

/// Feed it bytes as they come; events come out when they are whole. The same events for any split of the
/// input.
class SseParser {
 public:
  explicit SseParser(std::size_t max_event_bytes = limits::kMessageBytes)
      : max_event_bytes_(max_event_bytes) {}

  /// Fails when one event is over the limit; the parser is dead then.
  Result<std::vector<SseEvent>> feed(std::string_view bytes);
  /// The id of the last event that had one: what Last-Event-ID has to say after a reconnect.
  [[nodiscard]] const std::optional<std::string>& last_id() const { return last_id_; }
  /// How long the server last asked to wait before a reconnect, with an event or without one.
  [[nodiscard]] const std::optional<std::chrono::milliseconds>& retry() const { return retry_; }

 private:
  void take_line(std::string_view line, std::vector<SseEvent>& out);
  void take_field(std::string_view name, std::string_view value);
  void dispatch(std::vector<SseEvent>& out);

  std::size_t max_event_bytes_;
  std::string line_;
  bool after_cr_ = false;
  bool at_start_ = true;
  SseEvent pending_;
  bool has_data_ = false;
  std::optional<std::string> last_id_;
  std::optional<std::chrono::milliseconds> retry_;
};

}  // namespace relay::net
