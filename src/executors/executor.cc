#include "executors/executor.h"

#include <utility>

#include <fmt/format.h>

namespace relay::executors {
namespace {

// What runs is what was judged: the code and the input of the record, not those of another call.
Result<void> check_judged(const authority::Call& call, const RunRequest& request) {
  const json::object& judged = call.args.object();
  const bool same_code = !request.capsule.layers.empty() &&
                         json::find_string(judged, "code").value_or("") == *request.capsule.layers.front();
  const bool same_input = json::find_string(judged, "stdin").value_or("") == request.stdin_bytes;
  if (same_code && same_input) return {};
  return fail(internal("nothing was run: the code or its input is not what was judged"));
}

Result<void> check_runtime(const RunRequest& request) {
  if (language_of(request.runtime) == request.capsule.manifest.language) return {};
  return fail(internal(fmt::format("nothing was run: {} does not run {}", name_of(request.runtime),
                                   name_of(request.capsule.manifest.language))));
}

}  // namespace

std::string owner_of(const authority::Caller& caller) {
  return caller.principal + '\n' + authority::key_of_client(caller).text;
}

SessionKey session_key_of(const authority::Caller& caller, std::string name) {
  std::string owner = owner_of(caller);
  if (authority::key_of_client(caller).empty()) owner += "guest " + name;
  return {std::move(owner), std::move(name)};
}

std::string run_id_of(std::string_view request_id) {
  if (request_id.starts_with("req_")) request_id.remove_prefix(4);
  return fmt::format("run_{}", request_id);
}

Task<RunOutcome> Executor::run(const authority::Recorded& recorded, RunRequest request,
                               std::shared_ptr<HostCalls> calls, RunObserver& observer, RunStop stop) {
  RELAY_CO_CHECK(check_judged(recorded.call(), request));
  RELAY_CO_CHECK(check_runtime(request));
  const authority::Call& call = recorded.call();
  SessionKey session = session_key_of(call.caller, request.session);
  OwnedRun owned{.request = std::move(request),
                 .run_id = run_id_of(call.request_id),
                 .owner = owner_of(call.caller),
                 .session = std::move(session)};
  RELAY_CO_TRY(RunOutcome outcome,
               co_await perform(std::move(owned), std::move(calls), observer, std::move(stop)));
  outcome.executor = name();
  co_return outcome;
}

}  // namespace relay::executors
