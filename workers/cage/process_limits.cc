#include "process_limits.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "base/fd.h"

namespace relay::cage {
namespace {

Result<void> set_limit(__rlimit_resource resource, std::size_t value) {
  rlimit present{};
  if (::getrlimit(resource, &present) != 0)
    return fail(from_errno(errno, "wall resource_limits: read a limit"));
  // At the first limit of processor time comes SIGXCPU, which says why; at the second one SIGKILL.
  const std::size_t last = resource == RLIMIT_CPU ? value + 1 : value;
  const rlimit both{std::min<rlim_t>(value, present.rlim_max), std::min<rlim_t>(last, present.rlim_max)};
  if (::setrlimit(resource, &both) != 0) return fail(from_errno(errno, "wall resource_limits: set a limit"));
  return {};
}

}  // namespace

Result<void> limit_process(const sandbox::ProcessLimits& limits) {
  const std::pair<__rlimit_resource, std::size_t> all[] = {{RLIMIT_DATA, limits.data_bytes},
                                                           {RLIMIT_NPROC, limits.processes},
                                                           {RLIMIT_CPU, limits.cpu_seconds},
                                                           {RLIMIT_NOFILE, limits.open_files},
                                                           {RLIMIT_FSIZE, limits.file_bytes}};
  for (const auto& [resource, value] : all)
    if (value != 0) RELAY_CHECK(set_limit(resource, value));
  if (limits.nice != 0 && ::setpriority(PRIO_PROCESS, 0, static_cast<int>(limits.nice)) != 0)
    return fail(from_errno(errno, "wall resource_limits: lower the priority"));
  return set_limit(RLIMIT_CORE, 0);
}

Result<void> offer_to_oom_killer() {
  constexpr std::string_view kFirst = "500";  // of 1000; relay has 0 or what its service says
  const Fd file(::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  if (!file.is_open() || ::write(file.get(), kFirst.data(), kFirst.size()) < 0)
    return fail(from_errno(errno, "wall resource_limits: set oom_score_adj"));
  return {};
}

}  // namespace relay::cage
