#include "pipeline/confirmer.h"

#include <fmt/format.h>

#include "policy/redaction.h"
#include "serving/asker.h"

namespace relay::pipeline {

bool ElicitingConfirmer::can_ask() const {
  return asker_.client().elicitation_form;
}

io::Task<policy::ConfirmationAnswer> ElicitingConfirmer::ask(const authority::Call& call,
                                                             const authority::Decision& decision) {
  // The person sees what will run, not what a model says about it; secrets stay out of the question.
  protocol::ElicitForm form;
  form.message = fmt::format("Allow {} at tier {} ({})? {}\n\n{}", call.tool,
                             authority::number(decision.tier), authority::name(decision.tier),
                             decision.reason, policy::redact_for_audit(call.policy_text));
  form.requested_schema = protocol::JsonText::trusted(
      R"({"type":"object","properties":{"allow":{"type":"boolean","title":"Run it"}},"required":["allow"]})");
  const Result<protocol::ElicitResult> answer = co_await asker_.elicit(std::move(form));
  if (!answer || answer->action == protocol::ElicitAction::cancel)
    co_return policy::ConfirmationAnswer::unanswered;
  const bool agreed = answer->accepted() && json::find_bool(answer->content, "allow").value_or(false);
  co_return agreed ? policy::ConfirmationAnswer::agreed : policy::ConfirmationAnswer::declined;
}

}  // namespace relay::pipeline
