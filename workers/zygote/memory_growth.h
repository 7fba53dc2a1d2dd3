// What a child uses beyond what it shares with its zygote, and the limit on it.
#pragma once

#include <cstddef>

#include "base/result.h"

namespace relay::zygote {

/// Private memory that this child has touched so far. A page that was shared with the zygote costs nothing until it is
/// written, and resident size does not tell the two apart, so faults are counted: each one made a page private. Pages
/// that were given back and touched again count twice.
double touched_mb();

/// Bytes of private writable memory that count against RLIMIT_DATA, as the kernel sees them now. Reads /proc: zygote only.
Result<std::size_t> data_bytes_now();

}  // namespace relay::zygote
