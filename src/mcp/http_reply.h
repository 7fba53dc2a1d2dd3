// How a MessageStream becomes an HTTP response: one JSON body, or server-sent events.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "mcp/message_stream.h"
#include "mcp/session.h"
#include "net/http_server.h"

namespace relay::mcp {

/// What the client can read.
struct Accepts {
  bool json = true;
  bool events = true;
};
Accepts parse_accept(const net::Headers& headers);

struct ReplyStyle {
  Accepts accepts;
  /// Legacy: events have ids and the client may come back for them; a closed connection does not end the
  /// call.
  std::shared_ptr<Session> session;
  MonoTime now{};
  /// Extra fields of the response, like Mcp-Session-Id.
  net::Headers headers;
  /// Sent before anything else, as it is.
  std::string first_event;
};

/// Answers the exchange with what the stream holds and will hold. Returns when the answer is sent, when the
/// client is gone, or when another connection took the stream over.
io::Task<void> send_reply(net::HttpExchange& exchange, std::shared_ptr<MessageStream> stream,
                          ReplyStyle style);

/// For GET: events from after that entry on, until the stream ends.
io::Task<void> send_events(net::HttpExchange& exchange, std::shared_ptr<MessageStream> stream,
                           std::uint64_t after, ReplyStyle style);

/// A stream that somebody reads to the end: what is already known about a request that goes no further.
net::HttpResponse json_answer(FinalMessage answer);

}  // namespace relay::mcp
