// RunPolicy: what one run may do, as a value: network, files, limits. The server has one; a call may bring a narrower one,
// and the run gets the intersection.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "executors/run.h"
#include "vfs/tree.h"

namespace relay::tools {

struct RunPolicy {
  json::object network;                            // policy.network of the configuration
  std::optional<vfs::PathPolicySpec> filesystem;   // a call's own; the configuration's is in the tree already
  executors::RunLimits limits;

  /// For the capsule's manifest.
  [[nodiscard]] json::object to_json() const;
};

/// Reads the configuration's blocks, which the schema has checked.
RunPolicy read_run_policy(const json::object& policy);

struct NarrowedPolicy {
  RunPolicy policy;
  std::vector<std::string> notes;  // where the call tried to widen: it is told, not silently ignored
};

/// Fails when the override is not understood.
Result<NarrowedPolicy> narrow(const RunPolicy& server, const json::object& override_block);

}  // namespace relay::tools
