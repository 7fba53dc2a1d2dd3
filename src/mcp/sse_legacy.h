// HTTP+SSE of 2024-11-05, for clients that know nothing newer: GET /sse opens the stream and names the
// address to POST messages to; every answer comes on the stream. The stream is the session: when it closes,
// the session ends.
#pragma once

#include <string>

#include "mcp/server.h"
#include "net/http_server.h"

namespace relay::mcp {

class SseLegacy {
 public:
  SseLegacy(Server& server, std::string messages_path)
      : server_(server), messages_path_(std::move(messages_path)) {}

  io::Task<void> serve_stream(net::HttpExchange& exchange, std::string principal);  // GET /sse
  io::Task<void> serve_message(net::HttpExchange& exchange,
                               std::string principal);  // POST /messages?session=...

 private:
  Server& server_;
  std::string messages_path_;
};

}  // namespace relay::mcp
