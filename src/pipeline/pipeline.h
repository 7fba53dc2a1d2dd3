// Pipeline: the order of a call. Every tool, resource and prompt passes through run(), and nothing runs
// otherwise: executors demand a Recorded, and this is where one is made.
//
//   validate -> admit (deny list, rules, mode, confirmation) -> Grant -> open the record -> execute -> bound
//   -> close -> reply
//
// A call that is refused, fails, times out or is cancelled still has its one closing line; a reply leaves
// after that line was handed to the kernel. Loop thread only.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "audit/journal.h"
#include "base/limits.h"
#include "io/spawn.h"
#include "pipeline/bound.h"
#include "pipeline/confirmer.h"
#include "pipeline/reply.h"
#include "pipeline/results_store.h"
#include "policy/engine.h"

namespace relay::pipeline {

/// Told about each call that ended: metrics, the live view.
class CallObserver {
 public:
  virtual ~CallObserver() = default;
  virtual void call_ended(const authority::Call& call, authority::Tier tier, authority::Ending ending,
                          std::chrono::nanoseconds took) = 0;
};

/// How one call differs from another besides what it does.
struct Conditions {
  Confirmer& confirmer;
  std::size_t budget_bytes = limits::kResultBytes;
  std::string invalid;  // what the schema says is wrong with the arguments; empty when they are fine
  const protocol::JsonText* output_schema = nullptr;  // what a cut result still has to fit; outlives the call
};

template <class Reply>
using Work = std::function<io::Task<Reply>(const authority::Recorded&)>;

class Pipeline {
 public:
  Pipeline(policy::PolicyEngine engine, policy::Broker& broker, audit::Journal& journal,
           ResultsStore& results, const Clock& clock)
      : engine_(std::move(engine)), broker_(broker), journal_(journal), results_(results), clock_(clock) {}

  /// Told of every call, in the order in which they were added. They outlive the pipeline's calls.
  void add_observer(CallObserver& observer) { observers_.push_back(&observer); }
  [[nodiscard]] const policy::PolicyEngine& engine() const { return engine_; }
  /// For the calls that come from now on.
  void set_engine(policy::PolicyEngine engine) { engine_ = std::move(engine); }
  [[nodiscard]] policy::Broker& broker() { return broker_; }
  [[nodiscard]] audit::Journal& journal() { return journal_; }
  [[nodiscard]] ResultsStore& results() { return results_; }

  template <class Reply>
  io::Task<Reply> run(authority::Call call, Conditions conditions, Work<Reply> work);

 private:
  struct Admitted {
    authority::Grant grant;
    std::string action;  // "confirm_execute" when a confirmation was used up
  };
  /// Refusals are on record when this completes.
  io::Task<std::variant<Admitted, Refused>> admit(authority::Call call, const Conditions& conditions,
                                                  MonoTime began);
  io::Task<std::optional<policy::Confirmed>> confirm(const policy::Refusal& refusal, Confirmer& confirmer,
                                                     Refused& refused, std::string& action);
  io::Task<Refused> record_refusal(const policy::Refusal& refusal, Refused refused, std::string action,
                                   MonoTime began);
  void observe(const authority::Call& call, authority::Tier tier, authority::Ending ending, MonoTime began);

  /// Tells the observers how the call ended, also when its coroutine is unwound by a cancellation.
  class Observation {
   public:
    Observation(Pipeline& pipeline, const authority::Recorded& recorded, MonoTime began)
        : pipeline_(pipeline), recorded_(recorded), began_(began) {}
    Observation(const Observation&) = delete;
    Observation& operator=(const Observation&) = delete;
    ~Observation() { pipeline_.observe(recorded_.call(), recorded_.tier(), ending_, began_); }
    void end(authority::Ending ending) { ending_ = ending; }

   private:
    Pipeline& pipeline_;
    const authority::Recorded& recorded_;
    MonoTime began_;
    authority::Ending ending_ = authority::Ending::cancelled;
  };

  template <class Reply>
  io::Task<authority::Outcome> execute(const authority::Recorded& recorded, const Conditions& conditions,
                                       const Work<Reply>& work, MonoTime began, Result<Reply>& reply);

  policy::PolicyEngine engine_;
  policy::Broker& broker_;
  audit::Journal& journal_;
  ResultsStore& results_;
  const Clock& clock_;
  std::vector<CallObserver*> observers_;
};

/// Runs the work so that nothing but a cancellation gets past it: a defect in one tool is an error of one
/// call.
template <class Reply>
io::Task<Reply> contain(const Work<Reply>& work, const authority::Recorded& recorded) {
  try {
    co_return co_await work(recorded);
  } catch (...) {
    if (io::is_cancellation(std::current_exception())) throw;
    co_return fail(io::error_from(std::current_exception()));
  }
}

template <class Reply>
authority::Outcome describe_outcome(const Result<Reply>& reply) {
  if (reply) return outcome_of(*reply);
  return authority::make_outcome(authority::ending_of(reply.error().kind), describe(reply.error()));
}

template <class Reply>
io::Task<Reply> Pipeline::run(authority::Call call, Conditions conditions, Work<Reply> work) {
  const MonoTime began = clock_.mono();
  call.began = began;
  RELAY_CO_TRY(auto admission, co_await admit(std::move(call), conditions, began));
  if (const Refused* refused = std::get_if<Refused>(&admission)) co_return refuse<Reply>(*refused);
  Admitted admitted = std::get<Admitted>(std::move(admission));

  RELAY_CO_TRY(authority::Recorded recorded, co_await journal_.open(std::move(admitted.grant)));
  Result<Reply> reply = fail(cancelled());
  RELAY_CO_TRY(authority::Outcome outcome, co_await execute(recorded, conditions, work, began, reply));
  outcome.action = std::move(admitted.action);
  RELAY_CO_CHECK(co_await journal_.close(std::move(recorded), std::move(outcome)));
  co_return reply;
}

template <class Reply>
io::Task<authority::Outcome> Pipeline::execute(const authority::Recorded& recorded,
                                               const Conditions& conditions, const Work<Reply>& work,
                                               MonoTime began, Result<Reply>& reply) {
  Observation observation(*this, recorded, began);
  reply = co_await contain(work, recorded);
  if (reply)
    bound(*reply,
          {conditions.budget_bytes, recorded.call().caller.principal, results_, conditions.output_schema});
  authority::Outcome outcome = describe_outcome(reply);
  observation.end(outcome.ending);
  co_return outcome;
}

}  // namespace relay::pipeline
