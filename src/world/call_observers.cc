#include "world/call_observers.h"

namespace relay::world {
namespace {

// Of "server/tool".
std::string_view server_of(const authority::Call& call) {
  return std::string_view(call.upstream).substr(0, call.upstream.find('/'));
}

// Whether a call of run_js or run_py got so far as to run something.
bool has_run(authority::Ending ending) {
  switch (ending) {
    case authority::Ending::denied:
    case authority::Ending::confirm_required:
    case authority::Ending::invalid:
    case authority::Ending::busy: return false;
    case authority::Ending::ok:
    case authority::Ending::error:
    case authority::Ending::timeout:
    case authority::Ending::too_large:
    case authority::Ending::cancelled: return true;
  }
  return false;
}

}  // namespace

void CallCounter::call_ended(const authority::Call& call, authority::Tier tier, authority::Ending ending,
                             std::chrono::nanoseconds took) {
  metrics_.count_call({.tool = call.tool,
                       .tier = number(tier),
                       .outcome = authority::name(ending),
                       .mode = mode_,
                       .duration = took,
                       .upstream = server_of(call)});
  if (call.toolset != "code" || !has_run(ending)) return;
  if (call.tool == "run_js") metrics_.count_run("js", authority::name(ending));
  if (call.tool == "run_py") metrics_.count_run("py", authority::name(ending));
}

void CallLog::call_ended(const authority::Call& call, authority::Tier, authority::Ending ending,
                         std::chrono::nanoseconds took) {
  log_.debug("call", {{"requestId", call.request_id},
                      {"clientId", call.caller.principal},
                      {"tool", call.tool},
                      {"outcome", authority::name(ending)},
                      {"durationMs", std::chrono::duration<double, std::milli>(took).count()}});
}

}  // namespace relay::world
