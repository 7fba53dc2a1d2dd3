// Attempts to run something without permission or without a record. Each case must fail to compile, for the
// reason that CMakeLists.txt expects; the control must compile, so that a failure is never about something
// else.
#include "authority/recorded.h"
#include "policy/engine.h"
#ifdef WITH_JOURNAL
#include "audit/journal.h"
#endif
#ifdef WITH_EXECUTOR
#include "executors/local_executor.h"
#endif

using namespace relay;

// What every executor looks like.
int execute(const authority::Recorded& recorded);

#ifdef CONTROL
authority::Grant admit(const policy::PolicyEngine& engine, authority::Call call) {
  return std::get<authority::Grant>(engine.admit(std::move(call)));
}
int run(const authority::Recorded& recorded) {
  return execute(recorded);
}
#endif

#ifdef CONTROL_JOURNAL
io::Task<void> whole_life(audit::Journal& journal, authority::Grant grant) {
  RELAY_CO_TRY(authority::Recorded recorded, co_await journal.open(std::move(grant)));
  execute(recorded);
  co_return co_await journal.close(std::move(recorded), authority::Outcome{});
}
#endif

#ifdef MINT_GRANT
authority::Grant forge(authority::Call call, authority::Decision decision) {
  return authority::Grant(std::move(call), std::move(decision));
}
#endif

#ifdef COPY_GRANT
authority::Grant twice(const authority::Grant& grant) {
  return grant;
}
#endif

#ifdef MINT_RECORDED
authority::Recorded forge(authority::RecordKeeper& keeper, authority::Grant grant) {
  return authority::Recorded(keeper, std::move(grant));
}
#endif

#ifdef COPY_RECORDED
authority::Recorded twice(const authority::Recorded& recorded) {
  return recorded;
}
#endif

#ifdef MINT_CONFIRMED
policy::Confirmed forge(const Sha256& digest) {
  return policy::Confirmed(digest, "token");
}
#endif

#ifdef EXECUTE_UNRECORDED
int run(const authority::Grant& grant) {
  return execute(grant);
}
#endif

#ifdef RUN_RECORDED
io::Task<executors::RunOutcome> run(executors::LocalExecutor& local, const authority::Recorded& recorded,
                                    executors::RunRequest request, executors::RunObserver& observer) {
  return local.run(recorded, std::move(request), nullptr, observer);
}
#endif

#ifdef RUN_UNRECORDED
io::Task<executors::RunOutcome> run(executors::LocalExecutor& local, executors::RunRequest request,
                                    executors::RunObserver& observer) {
  return local.run(std::move(request), nullptr, observer);
}
#endif

#ifdef RUN_GRANTED
io::Task<executors::RunOutcome> run(executors::LocalExecutor& local, const authority::Grant& grant,
                                    executors::RunRequest request, executors::RunObserver& observer) {
  return local.run(grant, std::move(request), nullptr, observer);
}
#endif

#ifdef CLOSE_TWICE
io::Task<void> twice(audit::Journal& journal, authority::Recorded& recorded) {
  co_return co_await journal.close(recorded, authority::Outcome{});
}
#endif

#ifdef CLOSE_BORROWED
io::Task<void> from_inside_an_executor(audit::Journal& journal, const authority::Recorded& recorded) {
  co_return co_await journal.close(std::move(recorded), authority::Outcome{});
}
#endif
