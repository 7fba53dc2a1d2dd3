// What a child uses beyond what it shares with its zygote, and the limit on it.
#pragma once

#include "base/result.h"
#include "sandbox/resource_limits.h"

namespace relay::zygote {

/// Private memory that this child has touched so far. A page that was shared with the zygote costs nothing
/// until it is written, and resident size does not tell the two apart, so faults are counted: each one made a
/// page private. Pages that were given back and touched again count twice.
double touched_mb();

/// What counts against RLIMIT_DATA and RLIMIT_AS, as the kernel sees it now. Reads /proc: zygote only.
Result<sandbox::MemoryBase> memory_now();

}  // namespace relay::zygote
