// OriginGuard: which Host and which Origin a request may carry.
//
// A server on loopback is reachable by every page the user visits: a page can send requests to it (Origin
// tells), and a name that the page's owner controls can be made to point to 127.0.0.1 (Host tells). So both
// are checked on every request, before authentication. Pure: no socket, no DNS.
//
// A Host is good when it is a loopback name, the address we listen on, or the host of an allowed origin. Its
// port does not matter: tunnels and containers change it, and an attacker cannot gain from it. Listening on
// the wildcard address, every IP literal is good, because rebinding needs a name. An Origin is good when it
// is missing, a loopback one, the very host of the request, or allowed by configuration.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/http.h"

namespace relay::net {

struct GuardOptions {
  std::string bind_address = "127.0.0.1";
  /// cors.allowedOrigins: "https://app.example.com"; "*" switches both checks off.
  std::vector<std::string> allowed_origins;
  /// More names under which clients reach us, without a port.
  std::vector<std::string> allowed_hosts;
};

class OriginGuard {
 public:
  explicit OriginGuard(const GuardOptions& options);

  /// Fails with `denied`; the sentence says which setting would allow it.
  [[nodiscard]] Result<void> check(const HttpRequest& request) const;
  /// What an answer to this (checked) request carries so that a page may read it. Empty without an Origin.
  [[nodiscard]] Headers cors_headers(const HttpRequest& request) const;
  /// The answer to an OPTIONS request that asks on behalf of a page.
  [[nodiscard]] HttpResponse answer_preflight(const HttpRequest& request) const;

 private:
  [[nodiscard]] bool allows_host(std::string_view host) const;
  [[nodiscard]] bool allows_origin(std::string_view origin, std::string_view host) const;

  bool allows_all_ = false;
  bool allows_literals_ = false;
  std::vector<std::string> hosts_;    // lower case, without port
  std::vector<std::string> origins_;  // lower case, without a default port
};

}  // namespace relay::net
