// The HTTP client: one libcurl multi handle on the event loop. Everything Relay says to the outside goes
// through it, so that what leaves can be checked in one place.
//
//   auto response = co_await client.send(request);       when the head has arrived
//   while (auto piece = co_await (*response)->read())    pulled: a slow consumer slows the peer down
//
// Policy sits in two hooks, asked for every request: on_address with each address before it is connected to
// (and again when a pooled connection is about to carry this request), on_redirect before one is followed.
// Redirects are followed here, not by curl. Cookies, .netrc, HSTS and everything but http and https are off.
// A coroutine that is cancelled while it waits takes its transfer with it. Loop thread only; names are
// resolved on curl's own thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "io/task.h"
#include "net/http.h"

namespace relay::net {

enum class ProxyUse {
  none,
  environment,  // http_proxy, https_proxy, no_proxy of the user; on_address then sees the proxy's address
};

/// The next piece of a request body; nothing at its end.
using BodySource = std::function<io::Task<std::optional<std::string>>()>;

struct ClientRequest {
  std::string method = "GET";
  std::string url;
  Headers headers;
  std::string body;
  BodySource body_source;  // instead of body: sent as it comes
  std::optional<std::uint64_t>
      body_bytes;  // the length of body_source, if known; otherwise it is sent chunked

  std::chrono::milliseconds connect_timeout = limits::kConnectTimeout;
  std::chrono::milliseconds total_timeout{0};  // from the start to the last byte; 0: none
  std::chrono::milliseconds idle_timeout =
      limits::kClientIdleTimeout;                       // while we wait and nothing moves; 0: none
  std::size_t max_body_bytes = limits::kHttpBodyBytes;  // of the response, unpacked; more is too_large
  std::size_t max_header_bytes = limits::kClientHeaderBytes;
  int max_redirects = 0;  // 0: a redirect is an answer like any other
  ProxyUse proxy = ProxyUse::none;

  /// Before connecting to an address. A refused address is skipped; when none is left, the request fails with
  /// this error.
  std::function<Result<void>(const std::string& ip, std::uint16_t port)> on_address;
  /// Before following. Hops count from 1.
  std::function<Result<void>(const std::string& url, int hop)> on_redirect;

  std::vector<std::string> resolve;  // "host:port:address", curl's form: answers DNS for this request
  std::string ca_file;               // trusted instead of the system's certificates
};

class ClientResponse {
 public:
  virtual ~ClientResponse() = default;  // an unfinished transfer is dropped
  [[nodiscard]] virtual int status() const = 0;
  [[nodiscard]] virtual const Headers& headers() const = 0;
  /// After redirects.
  [[nodiscard]] virtual const std::string& url() const = 0;
  /// "2", "1.1": what was spoken.
  [[nodiscard]] virtual std::string_view http_version() const = 0;
  /// What has arrived, unpacked; nothing at the proper end. Fails when the body is cut off, over its limit or
  /// late.
  virtual io::Task<std::optional<std::string>> read() = 0;
};

class HttpClient {
 public:
  static std::unique_ptr<HttpClient> make(const io::Loop& executor);
  virtual ~HttpClient() = default;

  virtual io::Task<std::unique_ptr<ClientResponse>> send(ClientRequest request) = 0;
  /// The same, with the whole body.
  io::Task<HttpResponse> fetch(ClientRequest request);
};

/// Reads all that is left.
io::Task<std::string> read_rest(ClientResponse& response);

/// The absolute form of a redirect's target; fails when it is not http or https.
Result<std::string> resolve_url(const std::string& base, const std::string& relative);

/// "https://host:port" with the port spelled out: equal for URLs of one origin.
Result<std::string> origin_of(const std::string& url);

}  // namespace relay::net
