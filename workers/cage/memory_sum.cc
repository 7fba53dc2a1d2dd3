#include "memory_sum.h"

#include <dirent.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cctype>
#include <fstream>
#include <memory>
#include <optional>
#include <string>

#include "base/limits.h"

namespace relay::cage {
namespace {

std::optional<std::size_t> find_share(const std::string& process) {
  std::ifstream rollup(process + "/smaps_rollup");
  for (std::string word; rollup >> word;)
    if (std::size_t kilobytes = 0; word == "Pss:" && rollup >> kilobytes) return kilobytes * limits::kKiB;
  return std::nullopt;
}

std::size_t resident_of(const std::string& process) {
  std::ifstream statm(process + "/statm");
  std::size_t mapped_pages = 0;
  std::size_t resident_pages = 0;
  statm >> mapped_pages >> resident_pages;
  return resident_pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

std::size_t scratch_in_use() {
  struct statvfs status{};
  if (::statvfs("/tmp", &status) != 0) return 0;
  return (status.f_blocks - status.f_bfree) * status.f_frsize;
}

}  // namespace

std::size_t memory_in_use() {
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(::opendir("/proc"), ::closedir);
  std::size_t sum = scratch_in_use();
  if (!listing) return sum;
  while (const dirent* entry = ::readdir(listing.get())) {
    if (!std::isdigit(static_cast<unsigned char>(entry->d_name[0]))) continue;
    const std::string process = std::string("/proc/") + entry->d_name;
    const auto share = find_share(process);
    sum += share ? *share : resident_of(process);
  }
  return sum;
}

}  // namespace relay::cage
