// LimitsPolicy: what one run may use. The `limits` block of seed configurations and of run requests.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "policy/narrowed.h"
#include "policy/rules.h"

namespace relay::policy {

struct LimitsPolicy {
  std::int64_t timeout_ms = 60'000;
  std::int64_t mem_mb = 256;
  std::int64_t stdout_bytes = 1'048'576;

  bool operator==(const LimitsPolicy&) const = default;
};

/// What a client asks for; what it does not mention stays as the server says.
struct LimitsRequest {
  std::optional<std::int64_t> timeout_ms;
  std::optional<std::int64_t> mem_mb;
  std::optional<std::int64_t> stdout_bytes;
};

/// `{"timeoutMs":…,"memMb":…,"stdoutBytes":…}`; unknown members and values out of range are problems.
LimitsRequest read_limits(const json::object& block, std::string_view path, std::vector<Problem>& problems);
LimitsPolicy apply_defaults(const LimitsRequest& request);
Narrowed<LimitsPolicy> intersect(const LimitsPolicy& server, const LimitsRequest& client);

}  // namespace relay::policy
