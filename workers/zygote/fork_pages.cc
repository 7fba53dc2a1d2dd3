#include "fork_pages.h"

#include <sys/mman.h>

#include <cerrno>
#include <charconv>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

namespace relay::zygote {
namespace {

struct Range {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};

// "7f00-7f10 rw-p 00000000 00:00 0" begins a mapping; every other line of smaps begins with a word and a colon.
std::optional<Range> find_range(const std::string& line) {
  Range range;
  const char* const end = line.data() + line.size();
  const auto first = std::from_chars(line.data(), end, range.begin, 16);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '-') return std::nullopt;
  const auto second = std::from_chars(first.ptr + 1, end, range.end, 16);
  if (second.ec != std::errc() || second.ptr == end || *second.ptr != ' ') return std::nullopt;
  return range;
}

// "dc": do not copy the area on fork. The kernel's own areas ("io", "pf": the clock pages) keep their mark.
bool is_marked(const std::string& flags) {
  const auto has = [&flags](const char* flag) { return flags.find(flag) != std::string::npos; };
  return has(" dc ") && !has(" io ") && !has(" pf ");
}

}  // namespace

Result<std::size_t> allow_fork_of_all_pages() {
  std::ifstream smaps("/proc/self/smaps");
  if (!smaps) return fail(from_errno(errno, "read /proc/self/smaps"));
  std::vector<Range> marked;
  Range range;
  for (std::string line; std::getline(smaps, line);) {
    if (const std::optional<Range> begun = find_range(line)) range = *begun;
    if (line.starts_with("VmFlags:") && is_marked(line + ' ')) marked.push_back(range);
  }
  for (const Range& mapping : marked)
    if (::madvise(reinterpret_cast<void*>(mapping.begin), mapping.end - mapping.begin, MADV_DOFORK) != 0)
      return fail(from_errno(errno, "madvise(MADV_DOFORK)"));
  return marked.size();
}

}  // namespace relay::zygote
