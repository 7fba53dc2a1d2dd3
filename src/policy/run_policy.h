// RunPolicy: what one run may do: network, files, limits. The server has one; a call may bring a narrower
// one, and the run gets the intersection.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "policy/filesystem_policy.h"
#include "policy/limits_policy.h"
#include "policy/network_policy.h"

namespace relay::policy {

struct RunPolicy {
  NetworkPolicy network;
  FilesystemPolicy filesystem;
  LimitsPolicy limits;

  /// For the capsule's manifest.
  [[nodiscard]] json::object to_json() const;
};

/// Reads the blocks network, filesystem and limits of the configuration's `policy`; other members belong to
/// other readers. `writable` is what may be written where the block does not say.
RunPolicy read_run_policy(const json::object& block, const std::vector<std::string>& writable,
                          std::string_view path, std::vector<Problem>& problems);

struct NarrowedPolicy {
  RunPolicy policy;
  std::optional<std::vector<HostPattern>>
      call_hosts;                  // the override's own network.allowedDomains, if it has it
  std::vector<std::string> notes;  // where the call tried to widen: it is told, not silently ignored
};

/// Fails when the override is not understood.
Result<NarrowedPolicy> narrow(const RunPolicy& server, const json::object& override_block);

}  // namespace relay::policy
