// Streamable HTTP: POST, GET and DELETE on one endpoint, both eras.
//
// The body decides the era; headers only cross-check. An answer that needs no stream is one JSON response in
// one write. The reply turns into server-sent events at the first notification or request that goes before
// it, or at once when the client accepts nothing else. A closed connection cancels a modern call; a legacy
// one goes on, and the client fetches the rest with Last-Event-ID.
#pragma once

#include <expected>
#include <memory>
#include <string>

#include "io/task.h"
#include "mcp/legacy_dispatcher.h"
#include "mcp/modern_dispatcher.h"
#include "mcp/server.h"
#include "net/http_server.h"

namespace relay::mcp {

class StreamableHttp {
 public:
  explicit StreamableHttp(Server& server) : server_(server), legacy_(server), modern_(server) {}

  /// Answers one exchange. The caller has checked Host and Origin and authenticated the principal.
  io::Task<void> serve(net::HttpExchange& exchange, std::string principal);

 private:
  struct Refused {
    int status;
    protocol::Id id;
    protocol::RpcError error;
  };
  io::Task<void> serve_post(net::HttpExchange& exchange, std::string principal);
  io::Task<void> serve_get(net::HttpExchange& exchange, std::string principal);
  io::Task<void> serve_delete(net::HttpExchange& exchange, std::string principal);
  io::Task<void> serve_modern(net::HttpExchange& exchange, protocol::Request request, std::string principal);
  io::Task<void> serve_legacy(net::HttpExchange& exchange, protocol::Request request, std::string principal);
  io::Task<void> serve_initialize(net::HttpExchange& exchange, protocol::Request request,
                                  std::string principal);
  io::Task<void> serve_batch(net::HttpExchange& exchange, std::string body, std::string principal);
  io::Task<void> take(net::HttpExchange& exchange, protocol::Message message, std::string principal);
  /// The session that the headers name, or what to answer.
  std::expected<std::shared_ptr<Session>, Refused> find_session(const net::HttpRequest& request,
                                                                std::string_view principal);
  authority::Caller caller_of(const net::HttpRequest& request, std::string principal) const;

  Server& server_;
  LegacyDispatcher legacy_;
  ModernDispatcher modern_;
};

}  // namespace relay::mcp
