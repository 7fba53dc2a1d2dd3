// OutsideProxies: the HTTP proxies through which this machine reaches the world, as the usual variables name
// them (HTTPS_PROXY, HTTP_PROXY, ALL_PROXY, NO_PROXY). CageProxy goes through them where a cage says so.
// Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "launch/child_environment.h"
#include "policy/host_match.h"

namespace relay::launch {

struct OutsideProxy {
  std::string host;
  std::uint16_t port = 0;
  std::string authorization;  // "Basic ...", or empty
  friend bool operator==(const OutsideProxy&, const OutsideProxy&) = default;
};

/// "http://user:password@proxy.example:3128", or the same without a scheme. The connection to the proxy
/// itself is plain, so an https:// or socks:// proxy is an error that says so.
Result<OutsideProxy> parse_outside_proxy(std::string_view url);

struct OutsideProxies {
  std::optional<OutsideProxy> for_tunnels;   // CONNECT: https
  std::optional<OutsideProxy> for_requests;  // plain http
  std::vector<std::string> direct;           // NO_PROXY: hosts that are reached without one
  friend bool operator==(const OutsideProxies&, const OutsideProxies&) = default;

  /// The proxy for this host; null: it is reached directly.
  [[nodiscard]] const OutsideProxy* find(const policy::Host& host, std::uint16_t port, bool is_tunnel) const;
};

/// A variable in lower case wins over the same one in upper case.
Result<OutsideProxies> parse_outside_proxies(const Environment& environment);
/// The entries of NO_PROXY, which commas or blanks separate.
std::vector<std::string> split_direct_hosts(std::string_view text);

/// The request that asks a proxy for a tunnel to this host.
std::string tunnel_request(const OutsideProxy& proxy, const policy::Host& host, std::uint16_t port);
/// Whether the proxy agreed. `head` is its answer up to the empty line.
Result<void> check_tunnel_answer(std::string_view head);

}  // namespace relay::launch
