#include "sandbox/resource_limits.h"

#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <cerrno>

namespace relay::sandbox {
namespace {

Result<void> set_limit(__rlimit_resource resource, rlim_t soft, rlim_t hard) {
  rlimit present{};
  if (::getrlimit(resource, &present) != 0)
    return fail(from_errno(errno, "wall resource_limits: read a limit"));
  const rlimit wanted{std::min(soft, present.rlim_max), std::min(hard, present.rlim_max)};
  if (::setrlimit(resource, &wanted) != 0)
    return fail(from_errno(errno, "wall resource_limits: set a limit"));
  return {};
}

}  // namespace

Result<void> set_resource_limits(const ChildLimits& limits, const MemoryBase& base) {
  const auto cpu_seconds = static_cast<rlim_t>(limits.cpu.count());
  const struct {
    __rlimit_resource resource;
    rlim_t value;
  } all[] = {{RLIMIT_DATA, base.data_bytes + limits.memory_bytes},
             {RLIMIT_AS, base.address_bytes + limits.address_bytes},
             {RLIMIT_CPU, cpu_seconds},
             {RLIMIT_STACK, limits.stack_bytes},
             {RLIMIT_NOFILE, limits.descriptors},
             {RLIMIT_NPROC, 0},
             {RLIMIT_CORE, 0},
             {RLIMIT_FSIZE, 0},
             {RLIMIT_MEMLOCK, 0},
             {RLIMIT_MSGQUEUE, 0},
             {RLIMIT_LOCKS, 0}};
  for (const auto& [resource, value] : all) RELAY_CHECK(set_limit(resource, value, value));
  return {};
}

Result<void> lower_memory_limit(std::size_t total_bytes) {
  return set_limit(RLIMIT_DATA, total_bytes, total_bytes);
}

Result<void> set_cpu_budget(std::chrono::milliseconds budget) {
  timespec used{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  // Whole seconds are what the kernel takes: the next one above the budget.
  const auto seconds = static_cast<rlim_t>(used.tv_sec + budget.count() / 1000 + 2);
  return set_limit(RLIMIT_CPU, seconds, RLIM_INFINITY);
}

}  // namespace relay::sandbox
