#include "policy/engine.h"

#include <re2/re2.h>

#include <fmt/format.h>

#include "base/glob.h"
#include "base/limits.h"

namespace relay::policy {

using authority::Call;
using authority::CallField;
using authority::Decision;
using authority::Tier;
using authority::Verdict;

namespace {

using Patterns = std::vector<std::unique_ptr<RE2>>;

// Quiet: what RE2 thinks of a pattern goes into our own problem list. Latin-1 would let bytes through that
// UTF-8 matching skips, but patterns are written by people in UTF-8; policy_text is made valid before it
// comes here.
RE2::Options pattern_options() {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(static_cast<std::int64_t>(limits::kPatternMemoryBytes));
  options.set_dot_nl(true);  // a newline in a script must not hide what follows it
  return options;
}

Patterns compile(const std::vector<std::string>& texts, std::string_view path,
                 std::vector<Problem>& problems) {
  Patterns out;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    auto pattern = std::make_unique<RE2>(texts[i], pattern_options());
    if (!pattern->ok())
      problems.push_back(
          {fmt::format("{}[{}]", path, i), fmt::format("not a valid RE2 pattern: {}", pattern->error())});
    out.push_back(std::move(pattern));
  }
  return out;
}

bool matches(const RE2& pattern, std::string_view probe) {
  return RE2::PartialMatch(re2::StringPiece(probe.data(), probe.size()), pattern);
}

const RE2* find_match(const Patterns& patterns, std::string_view probe) {
  for (const auto& pattern : patterns)
    if (matches(*pattern, probe)) return pattern.get();
  return nullptr;
}

std::string plain_probe(const Call& call, std::string_view value) {
  return fmt::format("{} {}", call.tool, value);
}

std::string named_probe(const Call& call, const CallField& field) {
  return fmt::format("{} {}={}", call.tool, field.name, field.value);
}

const RE2* find_match(const Patterns& patterns, const Call& call, const CallField& field) {
  if (const RE2* match = find_match(patterns, plain_probe(call, field.value))) return match;
  return find_match(patterns, named_probe(call, field));
}

// Deny looks at everything: the tool, each field alone, and all of it at once.
const RE2* find_denying(const Patterns& patterns, const Call& call) {
  if (patterns.empty()) return nullptr;
  if (const RE2* match = find_match(patterns, call.tool)) return match;
  for (const CallField& field : call.fields)
    if (const RE2* match = find_match(patterns, call, field)) return match;
  return call.policy_text.empty() ? nullptr : find_match(patterns, plain_probe(call, call.policy_text));
}

// A command "path=/x" must not be taken for the field path.
bool poses_as_field(std::string_view value) {
  const std::size_t equals = value.find('=');
  return equals != std::string_view::npos &&
         authority::identifies({std::string(value.substr(0, equals)), std::string()});
}

// All fields of that name match; null when there are none.
const RE2* find_allowing(const Patterns& patterns, const Call& call, std::string_view name) {
  const RE2* match = nullptr;
  for (const CallField& field : call.fields) {
    if (field.name != name) continue;
    match = poses_as_field(field.value) ? find_match(patterns, named_probe(call, field))
                                        : find_match(patterns, call, field);
    if (!match) return nullptr;
  }
  return match;
}

// Allow looks at the tool and at what identifies the target, never at content that a caller fills as it
// likes.
const RE2* find_allowing(const Patterns& patterns, const Call& call) {
  if (patterns.empty()) return nullptr;
  if (const RE2* match = find_match(patterns, call.tool)) return match;
  if (const RE2* match = find_match(patterns, plain_probe(call, ""))) return match;
  for (const CallField& field : call.fields) {
    if (!authority::identifies(field)) continue;
    if (const RE2* match = find_allowing(patterns, call, field.name)) return match;
  }
  return nullptr;
}

void add_rung(Decision& decision, std::string_view name, bool matched, std::string detail = {}) {
  decision.ladder.push_back({std::string(name), matched, std::move(detail)});
}

void decide_here(Decision& decision, Verdict verdict, std::string reason) {
  decision.verdict = verdict;
  decision.deciding = decision.ladder.size() - 1;
  decision.reason = std::move(reason);
}

struct MatchedRules {
  const Rule* deny = nullptr;
  const Rule* confirm = nullptr;
  const Rule* allow = nullptr;
  const Rule* claimed = nullptr;  // an allow that only the client's own name for itself would satisfy
  bool any = false;
};

std::string describe_rule(const Rule& rule, std::string_view effect) {
  std::string text = fmt::format("{} tool={} client={}", effect, rule.tool.empty() ? "*" : rule.tool,
                                 rule.client.empty() ? "*" : rule.client);
  if (!rule.path.empty()) text += fmt::format(" path={}", rule.path);
  if (!rule.host.empty()) text += fmt::format(" host={}", rule.host);
  if (!rule.command.empty()) text += fmt::format(" command={}", rule.command);
  if (!rule.reason.empty()) text += fmt::format(" ({})", rule.reason);
  return text;
}

std::string describe_matched(const MatchedRules& matched) {
  if (matched.deny) return describe_rule(*matched.deny, "deny");
  if (!matched.claimed) return {};
  return describe_rule(*matched.claimed, "allow") +
         " does not count: without authentication the client's name is its own claim";
}

std::string reason_of(const Rule& rule, std::string_view otherwise) {
  return rule.reason.empty() ? std::string(otherwise) : rule.reason;
}

// A grant must cover every value of the field; a restriction applies when one value is covered.
bool field_matches(const std::string& glob, std::string_view name, const Call& call, Effect effect) {
  if (glob.empty()) return true;
  std::size_t values = 0, matched = 0;
  for (const CallField& field : call.fields) {
    if (field.name != name) continue;
    ++values;
    if (name_matches(glob, field.value)) ++matched;
  }
  return effect == Effect::allow ? values > 0 && matched == values : matched > 0;
}

bool target_matches(const Rule& rule, const Call& call) {
  return name_matches(rule.tool, call.tool) && field_matches(rule.path, "path", call, rule.effect) &&
         field_matches(rule.host, "host", call, rule.effect) &&
         field_matches(rule.command, "command", call, rule.effect);
}

MatchedRules match_rules(const std::vector<Rule>& rules, const Call& call, Tier& tier) {
  MatchedRules matched;
  if (rules.empty()) return matched;
  const std::string client = authority::client_id(call.caller);
  const std::string proven = authority::is_authenticated(call.caller) ? client : "local";
  for (const Rule& rule : rules) {
    if (!target_matches(rule, call)) continue;
    const bool by_name = name_matches(rule.client, client), by_proof = name_matches(rule.client, proven);
    if (!by_name && !by_proof) continue;
    if (rule.effect == Effect::allow && !by_proof) {
      matched.claimed = &rule;
      continue;
    }
    matched.any = true;
    if (rule.tier) tier = std::max(tier, *rule.tier);
    const Rule*& slot = rule.effect == Effect::deny      ? matched.deny
                        : rule.effect == Effect::confirm ? matched.confirm
                                                         : matched.allow;
    if (!slot) slot = &rule;
  }
  return matched;
}

}  // namespace

struct PolicyEngine::Compiled {
  Rules rules;
  Patterns deny;
  Patterns allow;
  bool broken = false;  // a pattern did not compile: an engine that cannot read its rules admits nothing

  [[nodiscard]] bool denied_by_list(Decision& decision, const Call& call) const;
  [[nodiscard]] bool denied_by_mode(Decision& decision, const Call& call, const MatchedRules& matched) const;
  void ask_for_confirmation(Decision& decision, const MatchedRules& matched) const;
};

bool PolicyEngine::Compiled::denied_by_list(Decision& decision, const Call& call) const {
  if (broken) {
    add_rung(decision, "deny list", true, "a pattern does not compile");
    decide_here(decision, Verdict::deny, "the policy has errors, so nothing is admitted");
    return true;
  }
  const RE2* match = find_denying(deny, call);
  add_rung(decision, "deny list", match != nullptr, match ? match->pattern() : std::string());
  if (match) decide_here(decision, Verdict::deny, "matched the deny list (policy.deny)");
  return match != nullptr;
}

bool PolicyEngine::Compiled::denied_by_mode(Decision& decision, const Call& call,
                                            const MatchedRules& matched) const {
  const int tier = authority::number(decision.tier);
  const auto refuse = [&](std::string reason) {
    add_rung(decision, "mode", true, fmt::format("{} refuses tier {}", name(rules.mode), tier));
    decide_here(decision, Verdict::deny, std::move(reason));
    return true;
  };
  const auto admit = [&](std::string detail) {
    add_rung(decision, "mode", true, std::move(detail));
    decide_here(decision, Verdict::allow, "permitted");
    return false;
  };
  switch (rules.mode) {
    case PolicyMode::open: return admit("open");
    case PolicyMode::readonly:
      if (decision.tier == Tier::read_only) return admit("readonly");
      return refuse(fmt::format("readonly mode admits tier 0 only, this is tier {}", tier));
    case PolicyMode::guarded:
      if (decision.tier < Tier::stateful) return admit("guarded");
      if (matched.allow) return admit("guarded, an allow rule matched");
      if (const RE2* match = find_allowing(allow, call))
        return admit(fmt::format("guarded, allowed by {}", match->pattern()));
      return refuse("guarded mode needs a match in policy.allow for tier 2 and above");
  }
  return refuse("unknown mode");
}

void PolicyEngine::Compiled::ask_for_confirmation(Decision& decision, const MatchedRules& matched) const {
  const bool by_tier = rules.confirm_tier3 && decision.tier == Tier::irreversible;
  if (!by_tier && !matched.confirm) return add_rung(decision, "confirmation", false);
  add_rung(decision, "confirmation", true,
           matched.confirm ? describe_rule(*matched.confirm, "confirm") : "tier 3");
  decide_here(decision, Verdict::confirm,
              matched.confirm ? reason_of(*matched.confirm, "a rule asks for confirmation")
                              : "this cannot be undone");
}

PolicyEngine::PolicyEngine(std::unique_ptr<const Compiled> compiled) : compiled_(std::move(compiled)) {}
PolicyEngine::PolicyEngine(PolicyEngine&&) noexcept = default;
PolicyEngine& PolicyEngine::operator=(PolicyEngine&&) noexcept = default;
PolicyEngine::~PolicyEngine() = default;

PolicyEngine PolicyEngine::make(Rules rules, std::string_view path, std::vector<Problem>& problems) {
  const std::size_t before = problems.size();
  auto compiled = std::make_unique<Compiled>();
  compiled->deny = compile(rules.deny, fmt::format("{}.deny", path), problems);
  compiled->allow = compile(rules.allow, fmt::format("{}.allow", path), problems);
  compiled->broken = problems.size() > before;
  compiled->rules = std::move(rules);
  return PolicyEngine(std::move(compiled));
}

const Rules& PolicyEngine::rules() const {
  return compiled_->rules;
}

Decision PolicyEngine::decide(const Call& call) const {
  Decision decision;
  decision.tier = call.tier;
  decision.ladder.reserve(4);
  const MatchedRules matched = match_rules(compiled_->rules.rules, call, decision.tier);
  if (compiled_->denied_by_list(decision, call)) return decision;
  add_rung(decision, "rules", matched.any, describe_matched(matched));
  if (matched.deny) {
    decide_here(decision, Verdict::deny, reason_of(*matched.deny, "a rule denies this tool to this client"));
    return decision;
  }
  if (compiled_->denied_by_mode(decision, call, matched)) return decision;
  compiled_->ask_for_confirmation(decision, matched);
  return decision;
}

Admission PolicyEngine::admit(Call call) const {
  Decision decision = decide(call);
  if (decision.verdict != Verdict::allow) return Refusal{std::move(call), std::move(decision)};
  return authority::Grant(std::move(call), std::move(decision));
}

Admission PolicyEngine::admit_confirmed(Call call, Confirmed confirmed) const {
  Decision decision = decide(call);
  if (decision.verdict == Verdict::confirm && confirmed.digest() == authority::digest_of(call)) {
    decision.ladder.back().detail += fmt::format(", confirmed by {}", confirmed.how());
    decide_here(decision, Verdict::allow, "confirmed");
  }
  if (decision.verdict != Verdict::allow) return Refusal{std::move(call), std::move(decision)};
  return authority::Grant(std::move(call), std::move(decision));
}

}  // namespace relay::policy
