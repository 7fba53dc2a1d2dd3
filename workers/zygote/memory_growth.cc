#include "memory_growth.h"

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace relay::zygote {
double touched_mb() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_minflt) * static_cast<double>(::sysconf(_SC_PAGESIZE)) / 1024.0 /
         1024.0;
}

Result<sandbox::MemoryBase> memory_now() {
  sandbox::MemoryBase now;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmData:")) now.data_bytes = std::stoul(line.substr(7)) * 1024;
    if (line.starts_with("VmSize:")) now.address_bytes = std::stoul(line.substr(7)) * 1024;
  }
  if (now.data_bytes == 0 || now.address_bytes == 0)
    return fail(unavailable("cannot read VmData and VmSize from /proc/self/status"));
  return now;
}

}  // namespace relay::zygote
