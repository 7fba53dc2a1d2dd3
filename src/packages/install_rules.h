// InstallRules: what the policy of a call says about the hosts that packages come from. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "policy/host_match.h"

namespace relay::packages {

struct InstallRules {
  std::vector<policy::HostPattern> denied;                  // of the server and of the call
  std::optional<std::vector<policy::HostPattern>> allowed;  // of the call, where it brings a list
};

/// May `tool` ("npm") install from these hosts (patterns, as a cage has them)? The error names the first one
/// that it may not, and what to add.
Result<void> check_install_hosts(const InstallRules& rules, const std::vector<std::string>& hosts,
                                 std::string_view tool);

}  // namespace relay::packages
