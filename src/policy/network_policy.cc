#include "policy/network_policy.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "policy/policy_reader.h"

namespace relay::policy {
namespace {

constexpr std::int64_t kBodyBytesMax = 1LL << 32;
constexpr std::int64_t kRedirectsMax = 20;

std::optional<std::vector<HostPattern>> read_patterns(BlockReader& reader, std::string_view key) {
  const auto texts = reader.texts(key);
  if (!texts) return std::nullopt;
  std::vector<HostPattern> patterns;
  for (std::size_t i = 0; i < texts->size(); ++i) {
    auto pattern = parse_host_pattern((*texts)[i]);
    if (!pattern) reader.complain(fmt::format("{}[{}]", key, i), pattern.error().message);
    if (pattern) patterns.push_back(std::move(*pattern));
  }
  return patterns;
}

void add_once(std::vector<HostPattern>& patterns, HostPattern pattern) {
  if (std::ranges::find(patterns, pattern) == patterns.end()) patterns.push_back(std::move(pattern));
}

std::vector<HostPattern> intersect_lists(const std::vector<HostPattern>& server,
                                         const std::vector<HostPattern>& client) {
  std::vector<HostPattern> out;
  for (const HostPattern& asked : client)
    for (const HostPattern& offered : server)
      if (auto common = intersect(offered, asked)) add_once(out, std::move(*common));
  return out;
}

void report_hosts(const NetworkPolicy& server, const std::vector<HostPattern>& asked,
                  std::vector<std::string>& widening) {
  for (const HostPattern& pattern : asked) {
    const auto covered_by = [&](const HostPattern& outer) { return covers(outer, pattern); };
    if (std::ranges::none_of(server.allowed, covered_by))
      widening.push_back(
          fmt::format("network.allowedDomains: {} is more than the server allows", to_text(pattern)));
    if (std::ranges::any_of(server.denied, covered_by))
      widening.push_back(fmt::format("network.allowedDomains: {} is denied by the server", to_text(pattern)));
  }
}

bool stricter(std::string_view name, bool server, const std::optional<bool>& client,
              std::vector<std::string>& widening) {
  if (server && client == false)
    widening.push_back(fmt::format("network.{}: the server insists on it", name));
  return server || client.value_or(false);
}

// Names that no public name server answers for: RFC 6761, RFC 6762, RFC 8375, .internal, and names without a
// dot.
bool is_local_name(const Host& host) {
  if (host.address) return true;  // a literal says itself what it reaches
  if (!host.name.contains('.')) return true;
  constexpr std::array<std::string_view, 4> kSuffixes{".localhost", ".local", ".home.arpa", ".internal"};
  return std::ranges::any_of(kSuffixes, [&](std::string_view suffix) { return host.name.ends_with(suffix); });
}

bool names_local(const NetworkPolicy& policy, const Target& target) {
  return is_local_name(target.host) && std::ranges::any_of(policy.allowed, [&](const HostPattern& pattern) {
           return pattern.kind == HostPattern::Kind::exact && pattern.port &&
                  matches(pattern, target.host, target.port);
         });
}

}  // namespace

NetworkRequest read_network(const json::object& block, std::string_view path,
                            std::vector<Problem>& problems) {
  constexpr std::array<std::string_view, 6> kKnown{"allowedDomains",     "deniedDomains", "denyIpLiterals",
                                                   "blockPrivateRanges", "maxBodyBytes",  "maxRedirects"};
  BlockReader reader(block, path, problems);
  reader.expect_only(kKnown);
  NetworkRequest request;
  request.allowed = read_patterns(reader, "allowedDomains");
  request.denied = read_patterns(reader, "deniedDomains");
  request.deny_ip_literals = reader.flag("denyIpLiterals");
  request.block_private_ranges = reader.flag("blockPrivateRanges");
  request.max_body_bytes = reader.number("maxBodyBytes", 0, kBodyBytesMax);
  request.max_redirects = reader.number("maxRedirects", 0, kRedirectsMax);
  return request;
}

NetworkPolicy apply_defaults(const NetworkRequest& request) {
  const NetworkPolicy defaults;
  return {request.allowed.value_or(defaults.allowed),
          request.denied.value_or(defaults.denied),
          request.deny_ip_literals.value_or(defaults.deny_ip_literals),
          request.block_private_ranges.value_or(defaults.block_private_ranges),
          request.max_body_bytes.value_or(defaults.max_body_bytes),
          request.max_redirects.value_or(defaults.max_redirects)};
}

Narrowed<NetworkPolicy> intersect(const NetworkPolicy& server, const NetworkRequest& client) {
  Narrowed<NetworkPolicy> result{server, {}};
  NetworkPolicy& policy = result.policy;
  if (client.allowed) {
    report_hosts(server, *client.allowed, result.widening);
    policy.allowed = intersect_lists(server.allowed, *client.allowed);
  }
  for (const HostPattern& pattern : client.denied.value_or(std::vector<HostPattern>{}))
    add_once(policy.denied, pattern);
  policy.deny_ip_literals =
      stricter("denyIpLiterals", server.deny_ip_literals, client.deny_ip_literals, result.widening);
  policy.block_private_ranges = stricter("blockPrivateRanges", server.block_private_ranges,
                                         client.block_private_ranges, result.widening);
  policy.max_body_bytes =
      narrower("network.maxBodyBytes", server.max_body_bytes, client.max_body_bytes, result.widening);
  policy.max_redirects =
      narrower("network.maxRedirects", server.max_redirects, client.max_redirects, result.widening);
  return result;
}

Result<Target> check_url(const NetworkPolicy& policy, std::string_view url) {
  RELAY_TRY(Target target, parse_target(url));
  RELAY_CHECK(check_target(policy, target));
  return target;
}

Result<void> check_target(const NetworkPolicy& policy, const Target& target) {
  const std::string& name = target.host.name;
  if (target.has_credentials)
    return fail(denied(fmt::format("credentials in a URL are not allowed: {}", name)));
  if (matches_any(policy.denied, target.host, target.port))
    return fail(denied(fmt::format("domain denied: {}", name)));
  if (target.host.address && policy.deny_ip_literals)
    return fail(denied(fmt::format("IP literals are not allowed: {}", name)));
  if (!matches_any(policy.allowed, target.host, target.port))
    return fail(
        denied(fmt::format("domain not allowed: {} (policy.network.allowedDomains grants it)", name)));
  if (target.host.address) return check_address(policy, target, *target.host.address);
  return {};
}

Result<void> check_address(const NetworkPolicy& policy, const Target& target, const Address& address) {
  const AddressRange range = range_of(address);
  if (range == AddressRange::global || !policy.block_private_ranges || names_local(policy, target)) return {};
  return fail(denied(fmt::format("the address is {}, which policy.network.blockPrivateRanges forbids: {}",
                                 name(range), to_text(address))));
}

}  // namespace relay::policy
