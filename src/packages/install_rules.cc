#include "packages/install_rules.h"

#include <algorithm>

#include <fmt/format.h>

namespace relay::packages {
namespace {

Result<void> check_host(const InstallRules& rules, const policy::HostPattern& host, std::string_view tool) {
  const auto overlaps = [&](const policy::HostPattern& pattern) {
    return intersect(pattern, host).has_value();
  };
  if (const auto denying = std::ranges::find_if(rules.denied, overlaps); denying != rules.denied.end())
    return fail(denied(fmt::format(
        "{} installs from {}, which policy.network.deniedDomains denies (\"{}\"). Packages that were "
        "installed before can be used; others need that host",
        tool, to_text(host), to_text(*denying))));
  const auto contains = [&](const policy::HostPattern& pattern) { return covers(pattern, host); };
  if (!rules.allowed || std::ranges::any_of(*rules.allowed, contains)) return {};
  return fail(
      denied(fmt::format("{} installs from {}, which the call's policy.network.allowedDomains does not have. "
                         "Add \"{}\" to it, or "
                         "leave allowedDomains out",
                         tool, to_text(host), to_text(host))));
}

}  // namespace

Result<void> check_install_hosts(const InstallRules& rules, const std::vector<std::string>& hosts,
                                 std::string_view tool) {
  for (const std::string& text : hosts) {
    RELAY_TRY(const policy::HostPattern host, policy::parse_host_pattern(text));
    RELAY_CHECK(check_host(rules, host, tool));
  }
  return {};
}

}  // namespace relay::packages
