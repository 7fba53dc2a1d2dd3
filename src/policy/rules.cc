#include "policy/rules.h"

#include <array>

#include <fmt/format.h>

#include "base/limits.h"

namespace relay::policy {
namespace {

constexpr std::int64_t kTtlMinSeconds = 5;
constexpr std::int64_t kTtlMaxSeconds = 3600;

class Reader {
 public:
  Reader(const json::object& block, std::string_view path, std::vector<Problem>& problems)
      : block_(block), path_(path), problems_(problems) {}

  void complain(std::string_view key, std::string message) {
    problems_.push_back({fmt::format("{}.{}", path_, key), std::move(message)});
  }

  std::string text(std::string_view key) {
    const json::value* found = json::find(block_, key);
    if (!found) return {};
    if (found->is_string()) return std::string(json::view(found->get_string()));
    complain(key, "must be a string");
    return {};
  }

  bool flag(std::string_view key, bool otherwise) {
    const json::value* found = json::find(block_, key);
    if (!found) return otherwise;
    if (found->is_bool()) return found->get_bool();
    complain(key, "must be true or false");
    return otherwise;
  }

  std::optional<std::int64_t> number(std::string_view key, std::int64_t low, std::int64_t high) {
    if (!json::find(block_, key)) return std::nullopt;
    const auto value = json::find_int(block_, key);
    if (value && *value >= low && *value <= high) return value;
    complain(key, fmt::format("must be a whole number from {} to {}", low, high));
    return std::nullopt;
  }

  std::vector<std::string> texts(std::string_view key) {
    std::vector<std::string> out;
    const json::value* found = json::find(block_, key);
    if (!found) return out;
    if (!found->is_array()) {
      complain(key, "must be an array of strings");
      return out;
    }
    for (std::size_t i = 0; i < found->get_array().size(); ++i) {
      const json::value& item = found->get_array()[i];
      if (item.is_string()) out.emplace_back(json::view(item.get_string()));
      if (!item.is_string()) complain(fmt::format("{}[{}]", key, i), "must be a string");
    }
    return out;
  }

 private:
  const json::object& block_;
  std::string_view path_;
  std::vector<Problem>& problems_;
};

std::optional<Mode> find_mode(std::string_view text) {
  for (const Mode mode : {Mode::open, Mode::guarded, Mode::readonly})
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
  Reader reader(block, path, problems);
  Rule rule{.tool = reader.text("tool"), .client = reader.text("client"), .reason = reader.text("reason")};
  const std::string effect = reader.text("effect");
  if (const auto found = find_effect(effect)) {
    rule.effect = *found;
  } else {
    reader.complain("effect", "must be \"allow\", \"deny\" or \"confirm\"");
  }
  if (const auto tier = reader.number("tier", 0, 3)) rule.tier = authority::find_tier(*tier);
  constexpr std::array<std::string_view, 5> kKnown{"tool", "client", "effect", "tier", "reason"};
  for (const auto& member : block) {
    const std::string_view key(member.key().data(), member.key().size());
    if (std::ranges::find(kKnown, key) == kKnown.end()) reader.complain(key, "is not a member of a rule");
  }
  return rule;
}

void read_rule_list(const json::value& list, const std::string& path, Rules& rules, std::vector<Problem>& problems) {
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

std::string_view name(Mode mode) {
  switch (mode) {
    case Mode::open:
      return "open";
    case Mode::guarded:
      return "guarded";
    case Mode::readonly:
      return "readonly";
  }
  return "";
}

Rules read_rules(const json::object& block, std::string_view path, std::vector<Problem>& problems) {
  Reader reader(block, path, problems);
  Rules rules;
  if (json::find(block, "mode")) {
    const auto mode = find_mode(reader.text("mode"));
    if (!mode) reader.complain("mode", "must be \"open\", \"guarded\" or \"readonly\"");
    rules.mode = mode.value_or(Mode::readonly);
  }
  rules.deny = reader.texts("deny");
  rules.allow = reader.texts("allow");
  rules.confirm_tier3 = reader.flag("confirmTier3", false);
  if (const auto ttl = reader.number("confirmTtlSeconds", kTtlMinSeconds, kTtlMaxSeconds))
    rules.confirm_ttl = std::chrono::seconds(*ttl);
  if (const json::value* list = json::find(block, "rules"))
    read_rule_list(*list, fmt::format("{}.rules", path), rules, problems);
  return rules;
}

}  // namespace relay::policy
