#include "policy/grammar.h"

#include <fmt/format.h>

namespace relay::policy {
namespace {

std::string tier_text(authority::Tier tier) {
  return fmt::format("tier {} ({})", authority::number(tier), authority::name(tier));
}

}  // namespace

std::string denied_text(const authority::Decision& decision) {
  return fmt::format("[DENIED {}: {}]", tier_text(decision.tier), decision.reason);
}

std::string confirm_required_text(const authority::Decision& decision, const Challenge& challenge) {
  const std::string what =
      fmt::format("[CONFIRM REQUIRED {}: {}; nothing has run. ", tier_text(decision.tier), decision.reason);
  if (challenge.confirming == Confirming::agents_too)
    return what +
           fmt::format(
               "If this is really wanted, call operation_confirm with token=\"{}\", then issue exactly "
               "the same call again, within {}s.]",
               challenge.token, challenge.ttl.count());
  return what +
         fmt::format(
             "Only the operator can allow it: ask them to run `relay approvals approve {}` within {}s, "
             "then issue exactly the same call again.]",
             challenge.id, challenge.ttl.count());
}

std::string declined_text(const authority::Decision& decision, ConfirmationAnswer answer) {
  const std::string_view why = answer == ConfirmationAnswer::declined ? "the person who was asked declined"
                                                                      : "the question was not answered";
  return fmt::format("[DENIED {}: {}]", tier_text(decision.tier), why);
}

std::string timeout_text(std::chrono::seconds after) {
  return fmt::format("[TIMEOUT after {}s]", after.count());
}

std::string error_text(const Error& error) {
  return fmt::format("[ERROR: {}]", describe(error));
}

std::string armed_text() {
  return "[armed: re-issue the exact Tier-3 call now to execute it]";
}

std::string not_armed_text() {
  return "[invalid or expired confirmation token]";
}

}  // namespace relay::policy
