#include "cheap_fork.h"

#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"

namespace relay::zygote {
namespace {

constexpr std::size_t kLargestHole = std::size_t{1} << 20;
constexpr std::size_t kSmallestHole = 64;

// Where malloc's untouched end begins: what it hands out from there leaves no hole filled.
std::uintptr_t heap_end() {
  return reinterpret_cast<std::uintptr_t>(::sbrk(0)) - ::mallinfo2().keepcost;
}

struct Part {
  std::uintptr_t begin;
  std::size_t bytes;
};

// Page by page: neither end of a segment need be aligned.
Part pages_of(std::uintptr_t begin, std::size_t bytes) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const std::uintptr_t first = begin & ~(page - 1);
  return {first, ((begin + bytes + page - 1) & ~(page - 1)) - first};
}

std::vector<Part> read_only_parts() {
  std::vector<Part> parts;
  const auto visit = [](dl_phdr_info* program, std::size_t, void* out) {
    for (int i = 0; i < program->dlpi_phnum; ++i) {
      const auto& part = program->dlpi_phdr[i];
      if (part.p_type == PT_LOAD && !(part.p_flags & PF_W) && part.p_memsz > 0)
        static_cast<std::vector<Part>*>(out)->push_back(pages_of(program->dlpi_addr + part.p_vaddr, part.p_memsz));
    }
    return 0;
  };
  ::dl_iterate_phdr(visit, &parts);
  return parts;
}

constexpr std::uintptr_t kHugePage = std::uintptr_t{2} << 20;
constexpr std::size_t kSmallPage = 4096;
constexpr std::size_t kLargeArea = 4 * kHugePage;  // smaller ones are written all over, and splitting costs more than copying saved
constexpr std::uint64_t kPresent = std::uint64_t{1} << 63;  // in pagemap
#ifndef MADV_COLLAPSE
constexpr int MADV_COLLAPSE = 25;
#endif

// "7f00-7f10 rw-p 00000000 00:00 0": private memory with no file behind it; the heap has a name.
std::optional<Part> find_private_area(const std::string& line) {
  Part part{};
  std::uintptr_t end = 0;
  char mode[5] = {};
  unsigned long inode = 0;
  if (std::sscanf(line.c_str(), "%lx-%lx %4s %*s %*s %lu", &part.begin, &end, mode, &inode) != 4 || inode != 0 || mode[0] != 'r' || mode[3] != 'p')
    return std::nullopt;
  part.bytes = end - part.begin;
  return part;
}

bool is_mostly_present(int pagemap, std::uintptr_t block) {
  std::uint64_t pages[kHugePage / kSmallPage] = {};
  if (::pread(pagemap, pages, sizeof pages, static_cast<off_t>(block / kSmallPage * sizeof pages[0])) != sizeof pages) return false;
  const auto present = std::ranges::count_if(pages, [](std::uint64_t page) { return (page & kPresent) != 0; });
  return static_cast<std::size_t>(present) > std::size(pages) / 2;
}

}  // namespace

Result<void> use_huge_pages() {
  std::ifstream maps("/proc/self/maps");
  const Fd pagemap(::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC));
  if (!maps || !pagemap.is_open()) return fail(from_errno(errno, "read /proc/self/maps and pagemap"));
  std::vector<Part> areas;
  for (std::string line; std::getline(maps, line);)
    if (const auto area = find_private_area(line)) areas.push_back(*area);
  for (const Part& area : areas) {
    if (area.bytes < kLargeArea) continue;
    for (std::uintptr_t block = (area.begin + kHugePage - 1) & ~(kHugePage - 1); block + kHugePage <= area.begin + area.bytes; block += kHugePage)
      if (is_mostly_present(pagemap.get(), block)) ::madvise(reinterpret_cast<void*>(block), kHugePage, MADV_COLLAPSE);
  }
  return {};
}

void keep_heap_in_place() {
  ::mallopt(M_MXFAST, 0);
}

void fill_heap_holes() {
  ::malloc_trim(0);
  const std::uintptr_t end = heap_end();
  for (std::size_t size = kLargestHole; size >= kSmallestHole; size -= size > 4096 ? size / 4 : size > 512 ? 128 : 16)
    for (;;) {
      void* const hole = ::malloc(size);
      if (reinterpret_cast<std::uintptr_t>(hole) < end && hole) continue;  // kept for ever: that is the point
      ::free(hole);
      break;
    }
}

void forget_program_pages() {
  for (const Part& part : read_only_parts()) ::madvise(reinterpret_cast<void*>(part.begin), part.bytes, MADV_DONTNEED);
}

Result<void> fork_program_pages() {
  const Fd memory(::open("/proc/self/mem", O_RDWR | O_CLOEXEC));
  if (!memory.is_open()) return fail(from_errno(errno, "open /proc/self/mem"));
  for (const Part& part : read_only_parts()) {
    const char same = *reinterpret_cast<const char*>(part.begin);
    if (::pwrite(memory.get(), &same, 1, static_cast<off_t>(part.begin)) != 1) return fail(from_errno(errno, "write to /proc/self/mem"));
  }
  return {};
}

}  // namespace relay::zygote
