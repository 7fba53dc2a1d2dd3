// The GET stream of legacy HTTP: what the server says without being asked.
#include <algorithm>

#include "peer/http_wire.h"

namespace relay::peer {
namespace {

constexpr auto kLongestPause = std::chrono::milliseconds(60'000);

}  // namespace

void HttpWire::settle() {
  if (era_ == protocol::Era::modern) return;
  if (stream_) stream_->cancel();
  stream_.emplace();
  io::spawn(executor_, keep_stream(shared_from_this()), "upstream events", *stream_);
}

// A server may have no such stream (405), and may end it at any time: it is opened again where it ended.
io::Task<void> HttpWire::keep_stream(Self self) {
  Place place;
  int in_vain = 0;
  while (true) {
    const auto before = place.last_id;
    RELAY_CO_TRY(const bool again, co_await self->read_stream_once(place));
    if (!again) co_return Result<void>{};
    in_vain = place.last_id == before ? in_vain + 1 : 0;
    const auto pause =
        std::min<std::chrono::milliseconds>(place.pause * (1 << std::min(in_vain, 6)), kLongestPause);
    RELAY_CO_CHECK(co_await io::sleep_for(pause));
  }
}

io::Task<bool> HttpWire::read_stream_once(Place& place) {
  auto response = co_await channel_->send("GET", channel_->endpoint(), get_fields(place), {});
  if (!response) co_return response.error().kind != ErrorKind::unauthenticated;
  const int status = (*response)->status();
  if (status >= 500) co_return true;
  if (status != 200 || !net::is_event_stream((*response)->headers())) co_return false;
  const auto read = co_await read_events(*std::move(response), std::nullopt, place);
  co_return read || read.error().kind != ErrorKind::cancelled;
}

net::Headers HttpWire::get_fields(const Place& place) const {
  net::Headers fields{{"Accept", "text/event-stream"}};
  add_session_fields(fields);
  if (place.last_id && !place.last_id->empty()) fields.set("Last-Event-ID", *place.last_id);
  return fields;
}

}  // namespace relay::peer
