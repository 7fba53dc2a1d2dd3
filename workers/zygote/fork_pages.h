// V8 as Debian builds it marks its mappings MADV_DONTFORK: a child would die at its first JavaScript call.
#pragma once

#include <cstddef>

#include "base/result.h"

namespace relay::zygote {

/// Walks /proc/self/smaps and takes the mark off every mapping that has it; gives how many there were.
/// Once, after boot and before the first fork.
Result<std::size_t> allow_fork_of_all_pages();

}  // namespace relay::zygote
