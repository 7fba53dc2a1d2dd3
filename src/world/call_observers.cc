#include "world/call_observers.h"

namespace relay::world {

void CallCounter::call_ended(const authority::Call& call, authority::Tier tier, authority::Ending ending,
                             std::chrono::nanoseconds took) {
  metrics_.count_call({.tool = call.tool,
                       .tier = number(tier),
                       .outcome = authority::name(ending),
                       .mode = mode_,
                       .duration = took});
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
