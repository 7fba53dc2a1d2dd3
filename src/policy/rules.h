// Rules: the `policy` block of the configuration as a value, before anything is compiled.
//
//   "policy": {
//     "mode": "guarded",                        open | guarded | readonly
//     "deny": ["^shell_\\w+ .*\\bcurl\\b"],     RE2 over each field: "<tool> <value>", "<tool>
//     <name>=<value>" "allow": ["^write path=/host/project/"],  RE2 over tool, path, host and command alone;
//     never over content "confirmTier3": true, "confirmTtlSeconds": 120, "rules": [{"tool": "ssh_*",
//     "client": "ci-*", "host": "*.prod.example", "effect": "deny", "tier": 2,
//                "reason": "CI does not reach hosts"}]
//   }
//
// A caller fills most of a call's text. So what grants looks only at fields that say what the call acts on,
// and a name that an unauthenticated client gave itself grants nothing.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "authority/tier.h"
#include "base/json.h"

namespace relay::policy {

enum class PolicyMode : std::uint8_t {
  open,      // everything is admitted, classified and recorded
  guarded,   // tier 2 and above need an allow pattern or an allow rule
  readonly,  // tier 0 only
};

std::string_view name(PolicyMode mode);

enum class Effect : std::uint8_t { allow, deny, confirm };

/// One line of `policy.rules`. Empty globs match everything; `*` and `?` are the only wildcards.
struct Rule {
  std::string tool;
  std::string client;
  Effect effect = Effect::deny;
  std::optional<authority::Tier> tier;  // raises the call's tier to at least this; never lowers it
  std::string reason;
  // Of a call with several values of a field, `allow` needs all to match, the other effects one.
  std::string path = {};
  std::string host = {};
  std::string command = {};
};

struct Rules {
  PolicyMode mode = PolicyMode::open;
  std::vector<std::string> deny;
  std::vector<std::string> allow;
  std::vector<Rule> rules;
  bool confirm_tier3 = false;
  std::chrono::seconds confirm_ttl{120};
  bool agents_confirm = false;  // operation_confirm is offered; otherwise only the operator confirms
};

/// A problem in the configuration: where it is and what to do about it. All of them are reported, not the
/// first.
struct Problem {
  std::string path;  // "policy.rules[2].effect"
  std::string message;
};

/// Reads the parts of the `policy` block that Rules holds; `path` is its place in the file. Members that
/// belong to other readers (network, filesystem, limits) are left alone.
Rules read_rules(const json::object& block, std::string_view path, std::vector<Problem>& problems);

}  // namespace relay::policy
