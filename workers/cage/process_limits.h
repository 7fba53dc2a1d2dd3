// What each process of a cage may use; children inherit it and cannot raise it.
#pragma once

#include "base/result.h"
#include "sandbox/cage_limits.h"

namespace relay::cage {

/// Of this process and all that it starts. The number of processes counts those of this user in this user
/// namespace.
Result<void> limit_process(const sandbox::ProcessLimits& limits);
/// When the machine runs out of memory, the kernel is to take this process or its children before relay.
Result<void> offer_to_oom_killer();

}  // namespace relay::cage
