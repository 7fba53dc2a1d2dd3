// rlimits of a run child. Memory is RLIMIT_DATA: the kernel counts every private writable page that is asked
// for, V8's and WebAssembly's included, so a guest that wants too much gets a normal "out of memory".
// RLIMIT_AS bounds what that does not count: pages that are only read cost nothing but page tables, and those
// would be without a bound.
#pragma once

#include <chrono>
#include <cstddef>

#include "base/result.h"
#include "sandbox/launch_plan.h"

namespace relay::sandbox {

/// What a process has already: its limits begin above it.
struct MemoryBase {
  std::size_t data_bytes = 0;     // private and writable
  std::size_t address_bytes = 0;  // mapped at all
};

/// Sets all of them.
Result<void> set_resource_limits(const ChildLimits& limits, const MemoryBase& base);

/// For the run that begins: only downwards. Works behind the system call filter.
Result<void> lower_memory_limit(std::size_t total_bytes);
/// CPU time from now on; replaces the budget of an earlier run in the same process. SIGXCPU ends the process.
Result<void> set_cpu_budget(std::chrono::milliseconds budget);

}  // namespace relay::sandbox
