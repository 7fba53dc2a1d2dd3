// Router: from a request to the handler that app/ registered for its path, through the checks that hold for
// all.
//
// The order is fixed: Host and Origin (OriginGuard), a page's preflight, the path (404) and the method (405),
// authentication (401), the handler. Patterns are exact ("/mcp"), have parameters ("/session/:id/events") or
// end in a rest ("/runtimes/*file"). A GET route answers HEAD as well. Everything is added before the server
// is opened.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "net/http_server.h"
#include "net/origin_guard.h"

namespace relay::net {

/// Who a request comes from. Implementations live in auth/.
class Authenticator {
 public:
  virtual ~Authenticator() = default;
  /// The principal ("token", "local", a subject), or `unauthenticated`.
  virtual Result<std::string> authenticate(const HttpRequest& request) = 0;
  /// The WWW-Authenticate field of the 401.
  [[nodiscard]] virtual std::string challenge(const HttpRequest& request) const = 0;
};

/// What the router found out about a request.
struct Routed {
  std::vector<std::pair<std::string, std::string>> params;  // decoded, in the order of the pattern
  std::string principal;                                    // empty on an open route

  [[nodiscard]] std::string_view param(std::string_view name) const;
};

enum class Access {
  authenticated,
  open,  // health, static files of the UI: nothing that acts
};

class Router {
 public:
  using Handler = std::function<io::Task<void>(HttpExchange&, const Routed&)>;

  /// Without an authenticator everybody is "local".
  Router(OriginGuard guard, std::shared_ptr<Authenticator> authenticator);

  void add(std::string method, std::string_view pattern, Handler handler,
           Access access = Access::authenticated);
  io::Task<void> handle(HttpExchange& exchange);
  /// For HttpServer::open; the router must outlive the server.
  HttpHandler handler() {
    return [this](HttpExchange& exchange) { return handle(exchange); };
  }

 private:
  struct Endpoint {
    Handler handler;
    Access access;
  };
  struct Resource {
    std::vector<std::string> segments;
    std::map<std::string, Endpoint, std::less<>> methods;
  };

  [[nodiscard]] const Resource* find(std::string_view path, Routed& routed) const;
  io::Task<void> dispatch(HttpExchange& exchange);
  io::Task<void> call(HttpExchange& exchange, const Endpoint& endpoint, Routed routed);

  OriginGuard guard_;
  std::shared_ptr<Authenticator> authenticator_;
  std::map<std::string, Resource, std::less<>> exact_;
  std::vector<std::pair<std::string, Resource>> patterns_;
};

}  // namespace relay::net
