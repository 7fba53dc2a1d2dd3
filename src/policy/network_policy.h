// NetworkPolicy: which hosts a run may reach. A fresh policy allows none; deny beats allow.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "policy/host_match.h"
#include "policy/narrowed.h"
#include "policy/rules.h"

namespace relay::policy {

struct NetworkPolicy {
  std::vector<HostPattern> allowed;
  std::vector<HostPattern> denied;
  bool deny_ip_literals = true;
  bool block_private_ranges = true;
  std::int64_t max_body_bytes = 5'242'880;
  std::int64_t max_redirects = 5;

  bool operator==(const NetworkPolicy&) const = default;
};

struct NetworkRequest {
  std::optional<std::vector<HostPattern>> allowed;
  std::optional<std::vector<HostPattern>> denied;
  std::optional<bool> deny_ip_literals;
  std::optional<bool> block_private_ranges;
  std::optional<std::int64_t> max_body_bytes;
  std::optional<std::int64_t> max_redirects;
};

/// `{"allowedDomains":[…],"deniedDomains":[…],"denyIpLiterals":…,"blockPrivateRanges":…,"maxBodyBytes":…,"maxRedirects":…}`
NetworkRequest read_network(const json::object& block, std::string_view path, std::vector<Problem>& problems);
NetworkPolicy apply_defaults(const NetworkRequest& request);
/// Allow lists intersect, deny lists unite, numbers take the smaller, switches the stricter.
Narrowed<NetworkPolicy> intersect(const NetworkPolicy& server, const NetworkRequest& client);

/// May a request go to this URL? Asked for the first URL and again for each redirect. The error is a
/// PolicyDenied that names the host and the rule.
Result<Target> check_url(const NetworkPolicy& policy, std::string_view url);
Result<void> check_target(const NetworkPolicy& policy, const Target& target);
/// May a connection for this target go to this address? Asked for every address that a name resolved to,
/// before connecting. With blockPrivateRanges an address that is not public is allowed only for a target that
/// allowedDomains names exactly, with its port, and whose name cannot be a public one: localhost:3000,
/// nas.local:8080. A public name that resolves to this machine stays blocked.
Result<void> check_address(const NetworkPolicy& policy, const Target& target, const Address& address);

}  // namespace relay::policy
