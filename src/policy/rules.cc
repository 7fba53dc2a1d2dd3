#include "policy/rules.h"

#include <array>

#include <fmt/format.h>

#include "policy/policy_reader.h"

namespace relay::policy {
namespace {

constexpr std::int64_t kTtlMinSeconds = 5;
constexpr std::int64_t kTtlMaxSeconds = 3600;

std::string text_of(const json::object& block, std::string_view key, BlockReader& reader) {
  const json::value* found = json::find(block, key);
  if (found && !found->is_string()) reader.complain(key, "must be a string");
  return std::string(json::find_string(block, key).value_or(""));
}

std::optional<PolicyMode> find_mode(std::string_view text) {
  for (const PolicyMode mode : {PolicyMode::open, PolicyMode::guarded, PolicyMode::readonly})
    if (name(mode) == text) return mode;
  return std::nullopt;
}

std::optional<Effect> find_effect(std::string_view text) {
  if (text == "allow") return Effect::allow;
  if (text == "deny") return Effect::deny;
  if (text == "confirm") return Effect::confirm;
  return std::nullopt;
}

Rule read_rule(const json::object& block, const std::string& path, std::vector<Problem>& problems) {
  constexpr std::array<std::string_view, 8> kKnown{"tool",    "client", "path", "host",
                                                   "command", "effect", "tier", "reason"};
  BlockReader reader(block, path, problems);
  reader.expect_only(kKnown);
  Rule rule{.tool = text_of(block, "tool", reader),
            .client = text_of(block, "client", reader),
            .reason = text_of(block, "reason", reader),
            .path = text_of(block, "path", reader),
            .host = text_of(block, "host", reader),
            .command = text_of(block, "command", reader)};
  const std::string effect = text_of(block, "effect", reader);
  if (const auto found = find_effect(effect)) {
    rule.effect = *found;
  } else {
    reader.complain("effect", "must be \"allow\", \"deny\" or \"confirm\"");
  }
  if (const auto tier = reader.number("tier", 0, 3)) rule.tier = authority::find_tier(*tier);
  return rule;
}

void read_rule_list(const json::value& list, const std::string& path, Rules& rules,
                    std::vector<Problem>& problems) {
  if (!list.is_array()) {
    problems.push_back({path, "must be an array of rules"});
    return;
  }
  for (std::size_t i = 0; i < list.get_array().size(); ++i) {
    const json::value& item = list.get_array()[i];
    const std::string place = fmt::format("{}[{}]", path, i);
    if (item.is_object()) rules.rules.push_back(read_rule(item.get_object(), place, problems));
    if (!item.is_object()) problems.push_back({place, "must be an object"});
  }
}

}  // namespace

std::string_view name(PolicyMode mode) {
  switch (mode) {
    case PolicyMode::open: return "open";
    case PolicyMode::guarded: return "guarded";
    case PolicyMode::readonly: return "readonly";
  }
  return "";
}

Rules read_rules(const json::object& block, std::string_view path, std::vector<Problem>& problems) {
  BlockReader reader(block, path, problems);
  Rules rules;
  if (json::find(block, "mode")) {
    const auto mode = find_mode(text_of(block, "mode", reader));
    if (!mode) reader.complain("mode", "must be \"open\", \"guarded\" or \"readonly\"");
    rules.mode = mode.value_or(PolicyMode::readonly);
  }
  rules.deny = reader.texts("deny").value_or(std::vector<std::string>{});
  rules.allow = reader.texts("allow").value_or(std::vector<std::string>{});
  rules.confirm_tier3 = reader.flag("confirmTier3").value_or(false);
  rules.agents_confirm = reader.flag("agentMayConfirm").value_or(false);
  if (const auto ttl = reader.number("confirmTtlSeconds", kTtlMinSeconds, kTtlMaxSeconds))
    rules.confirm_ttl = std::chrono::seconds(*ttl);
  if (const json::value* list = json::find(block, "rules"))
    read_rule_list(*list, fmt::format("{}.rules", path), rules, problems);
  return rules;
}

}  // namespace relay::policy
