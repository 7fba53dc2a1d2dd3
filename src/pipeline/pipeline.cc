#include "pipeline/pipeline.h"

#include "policy/grammar.h"

namespace relay::pipeline {

using authority::Call;
using authority::Ending;
using policy::Admission;
using policy::Refusal;

io::Task<std::variant<Pipeline::Admitted, Refused>> Pipeline::admit(Call call, const Conditions& conditions,
                                                                    MonoTime began) {
  if (!conditions.invalid.empty()) {
    Refusal refusal{std::move(call), {}};
    refusal.decision = {.verdict = authority::Verdict::deny,
                        .tier = refusal.call.tier,
                        .ladder = {{"arguments", true, "do not fit the schema"}},
                        .reason = conditions.invalid};
    Refused refused{Ending::invalid, conditions.invalid};
    co_return co_await record_refusal(refusal, std::move(refused), {}, began);
  }
  Admission admission = engine_.admit(std::move(call));
  if (auto* grant = std::get_if<authority::Grant>(&admission)) co_return Admitted{std::move(*grant), {}};

  Refusal refusal = std::get<Refusal>(std::move(admission));
  Refused refused{Ending::denied, policy::denied_text(refusal.decision)};
  std::string action;
  if (refusal.decision.verdict == authority::Verdict::confirm) {
    RELAY_CO_TRY(auto confirmed, co_await confirm(refusal, conditions.confirmer, refused, action));
    if (confirmed) {
      Admission second = engine_.admit_confirmed(std::move(refusal.call), std::move(*confirmed));
      if (auto* grant = std::get_if<authority::Grant>(&second))
        co_return Admitted{std::move(*grant), "confirm_execute"};
      refusal = std::get<Refusal>(std::move(second));
    }
  }
  co_return co_await record_refusal(refusal, std::move(refused), std::move(action), began);
}

io::Task<std::optional<policy::Confirmed>> Pipeline::confirm(const Refusal& refusal, Confirmer& confirmer,
                                                             Refused& refused, std::string& action) {
  if (auto armed = broker_.consume(refusal.call)) co_return std::move(armed);
  if (confirmer.can_ask()) {
    RELAY_CO_TRY(const policy::ConfirmationAnswer answer,
                 co_await confirmer.ask(refusal.call, refusal.decision));
    refused.text = policy::declined_text(refusal.decision, answer);
    co_return broker_.accept(refusal.call, answer);
  }
  refused = {Ending::confirm_required,
             policy::confirm_required_text(refusal.decision, broker_.plan(refusal.call))};
  action = "confirm_plan";
  co_return std::optional<policy::Confirmed>{};
}

io::Task<Refused> Pipeline::record_refusal(const Refusal& refusal, Refused refused, std::string action,
                                           MonoTime began) {
  authority::Outcome outcome = authority::make_outcome(refused.ending, refused.text);
  outcome.action = std::move(action);
  observe(refusal.call, refusal.decision.tier, refused.ending, began);
  RELAY_CO_CHECK(co_await journal_.refuse(refusal.call, refusal.decision, std::move(outcome)));
  co_return refused;
}

void Pipeline::observe(const Call& call, authority::Tier tier, Ending ending, MonoTime began) {
  if (observers_.empty()) return;
  const std::chrono::nanoseconds took = clock_.mono() - began;
  for (CallObserver* observer : observers_) observer->call_ended(call, tier, ending, took);
}

}  // namespace relay::pipeline
