#include "fork_pages.h"

#include <sys/mman.h>

#include <cerrno>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "memory_map.h"

namespace relay::zygote {
namespace {

// "dc": do not copy the area on fork. The kernel's own areas ("io", "pf": the clock pages) keep their mark.
bool is_marked(const std::string& flags) {
  const auto has = [&flags](const char* flag) { return flags.find(flag) != std::string::npos; };
  return has(" dc ") && !has(" io ") && !has(" pf ");
}

}  // namespace

Result<std::size_t> allow_fork_of_all_pages() {
  std::ifstream smaps("/proc/self/smaps");
  if (!smaps) return fail(from_errno(errno, "read /proc/self/smaps"));
  std::vector<MemoryRange> marked;
  MemoryRange range;
  for (std::string line; std::getline(smaps, line);) {
    if (const std::optional<Area> begun = parse_area(line)) range = begun->range();
    if (line.starts_with("VmFlags:") && is_marked(line + ' ')) marked.push_back(range);
  }
  for (const MemoryRange& mapping : marked)
    if (::madvise(mapping.address(), mapping.bytes(), MADV_DOFORK) != 0)
      return fail(from_errno(errno, "madvise(MADV_DOFORK)"));
  return marked.size();
}

}  // namespace relay::zygote
