#include "policy/limits_policy.h"

#include <array>

#include <fmt/format.h>

#include "policy/policy_reader.h"

namespace relay::policy {
namespace {

constexpr std::int64_t kTimeoutMsMax = 24LL * 3600 * 1000;
constexpr std::int64_t kMemMbMax = 1LL << 20;
constexpr std::int64_t kStdoutBytesMax = 1LL << 30;

}  // namespace

LimitsRequest read_limits(const json::object& block, std::string_view path, std::vector<Problem>& problems) {
  constexpr std::array<std::string_view, 3> kKnown{"timeoutMs", "memMb", "stdoutBytes"};
  BlockReader reader(block, path, problems);
  reader.expect_only(kKnown);
  return {reader.number("timeoutMs", 1, kTimeoutMsMax), reader.number("memMb", 1, kMemMbMax),
          reader.number("stdoutBytes", 0, kStdoutBytesMax)};
}

LimitsPolicy apply_defaults(const LimitsRequest& request) {
  const LimitsPolicy defaults;
  return {request.timeout_ms.value_or(defaults.timeout_ms), request.mem_mb.value_or(defaults.mem_mb),
          request.stdout_bytes.value_or(defaults.stdout_bytes)};
}

Narrowed<LimitsPolicy> intersect(const LimitsPolicy& server, const LimitsRequest& client) {
  Narrowed<LimitsPolicy> result;
  result.policy.timeout_ms =
      narrower("limits.timeoutMs", server.timeout_ms, client.timeout_ms, result.widening);
  result.policy.mem_mb = narrower("limits.memMb", server.mem_mb, client.mem_mb, result.widening);
  result.policy.stdout_bytes =
      narrower("limits.stdoutBytes", server.stdout_bytes, client.stdout_bytes, result.widening);
  return result;
}

}  // namespace relay::policy
