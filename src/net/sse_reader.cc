#include "net/sse_reader.h"

#include <iterator>

#include "base/bytes.h"

namespace relay::net {

io::Task<std::optional<SseEvent>> SseReader::next() {
  while (events_.empty()) {
    RELAY_CO_TRY(const auto piece, co_await response_->read());
    if (!piece) co_return std::optional<SseEvent>{};
    RELAY_CO_TRY(auto events, parser_.feed(*piece));
    events_.insert(events_.end(), std::make_move_iterator(events.begin()),
                   std::make_move_iterator(events.end()));
  }
  std::optional<SseEvent> event(std::move(events_.front()));
  events_.pop_front();
  co_return event;
}

bool is_event_stream(const Headers& headers) {
  const std::string_view type = headers.find("Content-Type").value_or("");
  return equal_ignoring_case(trim_ascii(type.substr(0, type.find(';'))), "text/event-stream");
}

}  // namespace relay::net
