// HttpChannel: requests to one endpoint, with what the configuration says about it.
//
// The configured header fields may be secrets: they go to the endpoint's own origin and nowhere else, and
// redirects to another origin are refused instead of followed. A 401 is taken to whoever can get credentials,
// once a request.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "net/http_client.h"
#include "peer/peer.h"

namespace relay::peer {

class HttpChannel {
 public:
  HttpChannel(net::HttpClient& http, HttpTarget target) : http_(http), target_(std::move(target)) {}

  [[nodiscard]] const std::string& endpoint() const { return target_.endpoint; }
  [[nodiscard]] bool has_endpoints_origin(const std::string& url) const;

  /// The response with its body unread. Fails when there is none, and on a 401 that nothing can be done
  /// about.
  io::Task<std::unique_ptr<net::ClientResponse>> send(std::string method, std::string url,
                                                      net::Headers fields, std::string body);

 private:
  io::Task<std::unique_ptr<net::ClientResponse>> send_once(const std::string& method, const std::string& url,
                                                           const net::Headers& fields,
                                                           const std::string& body);

  net::HttpClient& http_;
  HttpTarget target_;
};

/// The whole body, up to the size of a message.
io::Task<std::string> read_body(net::ClientResponse& response);

/// What a status that is no success means for whoever asked: "HTTP 503 Service Unavailable: <beginning of the
/// body>".
Error http_failure(int status, std::string_view body);

}  // namespace relay::peer
