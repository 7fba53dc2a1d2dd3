// CageSpec: what somebody wants of a cage, as a plain value: what is seen, reached and used inside.
#pragma once

#include <string>
#include <vector>

#include "launch/outside_proxy.h"
#include "sandbox/cage_limits.h"
#include "sandbox/cage_plan.h"

namespace relay::launch {

/// The walls around a program that is not trusted: it sees these directories and reaches these hosts, nothing
/// else, and uses no more than its limits.
struct CageSpec {
  std::vector<std::string> read;  // absolute paths
  std::vector<std::string> write;
  std::vector<std::string> hosts;            // as in policy.network.allow; empty: no network at all
  std::vector<std::string> private_hosts{};  // those of them that may lead to private addresses: "name:port"
  OutsideProxies outside{};                  // how the hosts are reached from here; empty: directly
  sandbox::CageLimits limits{};
  sandbox::CageUser user = sandbox::CageUser::unprivileged;
  /// Relay's own files beneath the paths above, as the cage sees them: empty ones cover them.
  std::vector<std::string> hidden{};
  /// Which configuration file is covered: a new one at its place needs a new cage.
  std::string hidden_version{};
  /// Why it cannot be found out what has to be hidden; empty: it can. The cage is not made then.
  std::string refusal{};
  friend bool operator==(const CageSpec&, const CageSpec&) = default;
};

}  // namespace relay::launch
