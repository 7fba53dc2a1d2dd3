#include "mcp/parked_calls.h"

#include <utility>

#include "mcp/modern_call.h"

namespace relay::mcp {

void ParkedCalls::stop() {
  for (const auto& [id, call] : std::exchange(calls_, {})) call->cancellation().cancel();
}

}  // namespace relay::mcp
