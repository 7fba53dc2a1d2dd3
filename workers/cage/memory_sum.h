// How much memory all processes of a cage use together, as far as /proc of the cage tells it: for process 1,
// where no control group counts.
#pragma once

#include <cstddef>

namespace relay::cage {

/// In bytes: the proportional share of each process in what is mapped, and what lies in /tmp, the private
/// home and /dev/shm. A process that cannot be looked into counts with all that it has resident. Files in
/// memory that no process maps are not seen.
std::size_t memory_in_use();

}  // namespace relay::cage
