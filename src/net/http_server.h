// The HTTP/1.1 server. Beast is included by request_parser.cc and nowhere else.
//
// A connection is a coroutine that reads one request head at a time and hands an HttpExchange to the handler.
// The handler reads the body when it wants it (so that a refused request is refused before its body is read)
// and answers once: whole, or as a stream. When the handler returns without an answer the server sends 500;
// when it fails with an Error the server sends the error's own status. Pipelined requests wait their turn in
// the socket. Every connection ends: each phase has a time limit (base/limits.h), and stop() ends them all.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/limits.h"
#include "io/event.h"
#include "io/task.h"
#include "net/http.h"

namespace relay::net {

/// A response body that is written piece by piece: chunked, or exactly as long as the Content-Length field
/// that was given to HttpExchange::start_stream.
class BodyStream {
 public:
  virtual ~BodyStream() = default;
  /// Fails with `unavailable` when the peer is gone or does not read for limits::kWriteTimeout.
  virtual io::Task<void> write(std::string_view bytes) = 0;
  /// Ends the response properly. Dropping the stream without it aborts the connection.
  virtual io::Task<void> finish() = 0;
};

/// One request and the chance to answer it. Lives until the handler returns.
class HttpExchange {
 public:
  virtual ~HttpExchange() = default;

  [[nodiscard]] virtual const HttpRequest& request() const = 0;
  /// The whole body. Fails with too_large (413) over max_bytes, timeout, or invalid when the framing is
  /// broken.
  virtual io::Task<std::string> read_body(std::size_t max_bytes = limits::kHttpBodyBytes) = 0;

  /// Answers. Exactly one of the two is called, once.
  virtual io::Task<void> respond(HttpResponse response) = 0;
  virtual io::Task<std::unique_ptr<BodyStream>> start_stream(int status, Headers headers) = 0;

  /// Set when the peer closes the connection or half-closes it while we are still answering.
  virtual io::Event& peer_gone() = 0;
};

using HttpHandler = std::function<io::Task<void>(HttpExchange&)>;

struct ServerTls {
  std::string certificate_path;  // PEM chain
  std::string key_path;          // PEM
};

struct ServerLimits {
  std::size_t header_bytes = limits::kHttpHeaderBytes;
  std::size_t connections = limits::kConnections;
  std::size_t connections_per_address = limits::kConnectionsPerAddress;
  std::chrono::milliseconds header_timeout = limits::kHeaderTimeout;
  std::chrono::milliseconds body_timeout = limits::kBodyTimeout;
  std::chrono::milliseconds idle_timeout = limits::kIdleTimeout;
  std::chrono::milliseconds write_timeout = limits::kWriteTimeout;
};

struct HttpServerOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;  // 0: the kernel chooses
  std::optional<ServerTls> tls;
  ServerLimits limits;
};

class HttpServer {
 public:
  /// Binds and listens; connections are accepted from the next turn of the loop on.
  static Result<std::unique_ptr<HttpServer>> open(io::Loop executor, HttpServerOptions options,
                                                  HttpHandler handler);
  virtual ~HttpServer() = default;

  [[nodiscard]] virtual std::uint16_t port() const = 0;
  [[nodiscard]] virtual std::size_t connection_count() const = 0;
  /// Stops accepting, cancels running handlers, waits until connections are gone or the grace is over.
  virtual io::Task<void> stop(std::chrono::steady_clock::duration grace) = 0;
};

}  // namespace relay::net
