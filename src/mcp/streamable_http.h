// Streamable HTTP: POST, GET and DELETE on one endpoint, both eras.
//
// An answer that needs no stream is one JSON response in one write. The reply turns into server-sent events at the
// first notification or request that goes before it, or at once when the client accepts nothing else. A closed
// connection cancels a modern call; a legacy one goes on, and the client fetches the rest with Last-Event-ID.
#pragma once

#include <string>

#include "io/task.h"
#include "mcp/server.h"
#include "net/http_server.h"

namespace relay::mcp {

class StreamableHttp {
 public:
  explicit StreamableHttp(Server& server) : server_(server) {}

  /// Answers one exchange. The caller has checked Host and Origin and authenticated the principal.
  io::Task<void> serve(net::Exchange& exchange, std::string principal);

 private:
  Server& server_;
};

}  // namespace relay::mcp
