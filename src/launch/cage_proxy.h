// CageProxy: the one way out of a cage. An HTTP proxy (CONNECT and plain) on the cage's own loopback, served
// from relay: the cage hands over its listening socket before the server runs, and relay accepts, checks the
// host, resolves it, checks every address, and connects. The server inside has no other route.
//
// A host must be among the server's hosts. A name that leads to a private, loopback or link-local address is
// refused; such an address is reached only when the configuration names it literally ("127.0.0.1:5432"), or
// when the name and its port are among CageSpec::private_hosts. With an outside proxy the name is resolved by
// that proxy, and no address is seen here.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "io/task.h"
#include "launch/cage_spec.h"
#include "launch/server_log.h"
#include "policy/host_match.h"

namespace relay::launch {

/// What a client of the proxy asks for with the head of its request.
struct ProxyRequest {
  policy::Host host;
  std::uint16_t port = 0;
  bool is_tunnel = false;  // CONNECT
  std::string forwarded;   // the head to send on, when it is no tunnel
};

/// `head` ends with its empty line. Fails with what a 400 says.
Result<ProxyRequest> parse_proxy_request(std::string_view head);
/// Whether these hosts include it. The error is what a 403 says.
Result<void> check_proxy_host(const std::vector<policy::HostPattern>& hosts, const policy::Host& host,
                              std::uint16_t port);

class CageProxy {
 public:
  /// For the hosts of this cage. Fails when one of them is no pattern.
  static Result<std::unique_ptr<CageProxy>> make(const io::Loop& executor, const CageSpec& cage,
                                                 std::shared_ptr<ServerLog> log);
  ~CageProxy();  // closes everything
  CageProxy(const CageProxy&) = delete;
  CageProxy& operator=(const CageProxy&) = delete;

  /// What the cage gets as sandbox::kCageSocket; let go of it once the cage runs.
  [[nodiscard]] int cage_socket() const;
  void cage_started();
  /// Called with the reason of each request that is refused or fails, besides the log. Loop thread.
  void set_on_refusal(std::function<void(const Error&)> report);

  struct State;

 private:
  explicit CageProxy(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

}  // namespace relay::launch
