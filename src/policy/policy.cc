#include "policy/policy.h"

#include "policy/engine.h"

namespace relay::policy {

Policy read_policy(const json::object& block, const std::vector<std::string>& writable, std::string_view path,
                   std::vector<Problem>& problems) {
  Policy policy;
  policy.rules = read_rules(block, path, problems);
  PolicyEngine::make(policy.rules, path, problems);
  policy.run = read_run_policy(block, writable, path, problems);
  policy.require_servers = json::find_bool(block, "requireServers").value_or(false);
  policy.redact_secrets = json::find_bool(block, "redactSecrets").value_or(true);
  return policy;
}

}  // namespace relay::policy
