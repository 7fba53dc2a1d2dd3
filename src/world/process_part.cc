#include "world/process_part.h"

#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "world/version.h"

namespace relay::world {
namespace {

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

// One of the numbers of /proc/self/statm, which are pages.
double memory_bytes(int index) {
  std::ifstream file("/proc/self/statm");
  double pages = 0;
  for (int i = 0; i <= index; ++i) file >> pages;
  return pages * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

double open_descriptors() {
  std::error_code ignored;
  const std::filesystem::directory_iterator entries("/proc/self/fd", ignored);
  return static_cast<double>(std::distance(begin(entries), end(entries))) - 1;  // without the one that counts
}

}  // namespace

serving::Identity make_identity() {
  serving::Identity identity;
  identity.info.name = "relay";
  identity.info.title = "Relay";
  identity.info.version = std::string(kVersion);
  return identity;
}

Result<std::unique_ptr<ProcessPart>> ProcessPart::open(const Services& services, std::string node) {
  return std::unique_ptr<ProcessPart>(new ProcessPart(services.clock.wall(), std::move(node)));
}

void ProcessPart::describe(tools::ServerInfo& info) const {
  info.add("name", [] { return json::value("relay"); });
  info.add("version", [] { return json::value(std::string(kVersion)); });
  info.add("node", [this] { return json::value(node_); });
  info.add("startedAt", [this] { return json::value(format_iso8601(started_)); });
  info.add("runtime", [] {
    return json::value{
        {"uid", ::getuid()}, {"euid", ::geteuid()}, {"isRoot", ::geteuid() == 0}, {"pid", ::getpid()}};
  });
}

void ProcessPart::measure(metrics::Registry& metrics) const {
  metrics.add_gauge("relay_build_info", "1; the labels say what was built", [] { return 1.0; },
                    {{"version", std::string(kVersion)}});
  metrics.add_gauge("process_start_time_seconds", "Start of the process, in seconds since 1970",
                    [this] { return std::chrono::duration<double>(started_.time_since_epoch()).count(); });
  metrics.add_counter("process_cpu_seconds_total", "Processor time of this process", [] {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    return seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
  });
  metrics.add_gauge("process_virtual_memory_bytes", "Virtual memory", [] { return memory_bytes(0); });
  metrics.add_gauge("process_resident_memory_bytes", "Resident memory", [] { return memory_bytes(1); });
  metrics.add_gauge("process_open_fds", "Open file descriptors", open_descriptors);
  metrics.add_gauge("process_max_fds", "How many there may be", [] {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    return static_cast<double>(limit.rlim_cur);
  });
}

}  // namespace relay::world
