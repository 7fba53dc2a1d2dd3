#include "memory_growth.h"

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace relay::zygote {
double touched_mb() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_minflt) * static_cast<double>(::sysconf(_SC_PAGESIZE)) / 1024.0 / 1024.0;
}

Result<std::size_t> data_bytes_now() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmData:")) return std::stoul(line.substr(7)) * 1024;
  return fail(unavailable("cannot read VmData from /proc/self/status"));
}

}  // namespace relay::zygote
