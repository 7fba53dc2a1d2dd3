// rlimits of a run child. Memory is RLIMIT_DATA: the kernel counts every private writable page that is asked for,
// V8's and WebAssembly's included, so a guest that wants too much gets a normal "out of memory".
#pragma once

#include <chrono>
#include <cstddef>

#include "base/result.h"
#include "sandbox/launch_plan.h"

namespace relay::sandbox {

/// Sets all of them. base_bytes is what the process has already: the limit begins above it.
Result<void> set_resource_limits(const ChildLimits& limits, std::size_t base_bytes);

/// For the run that begins: only downwards. Works behind the system call filter.
Result<void> lower_memory_limit(std::size_t total_bytes);
/// CPU time from now on; replaces the budget of an earlier run in the same process. SIGXCPU ends the process.
Result<void> set_cpu_budget(std::chrono::milliseconds budget);

}  // namespace relay::sandbox
