#include "cheap_fork.h"

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "memory_map.h"

namespace relay::zygote {
namespace {

constexpr std::size_t kLargestHole = std::size_t{1} << 20;
constexpr std::size_t kSmallestHole = 64;

// Where malloc's untouched end begins: what it hands out from there leaves no hole filled.
std::uintptr_t heap_end() {
  return reinterpret_cast<std::uintptr_t>(::sbrk(0)) - ::mallinfo2().keepcost;
}

constexpr std::uintptr_t kHugePage = std::uintptr_t{2} << 20;
#ifndef MADV_COLLAPSE
constexpr int MADV_COLLAPSE = 25;
#endif

bool is_mostly_present(const PageMap& map, const MemoryRange& block) {
  std::size_t present = 0;
  map.for_each(
      block, [](const Page& page) { return page.is_present(); },
      [&present](const MemoryRange& pages) { present += pages.bytes(); });
  return present > kHugePage / 2;
}

}  // namespace

Result<void> use_huge_pages() {
  RELAY_TRY(const std::vector<Area> areas, read_areas());
  RELAY_TRY(const PageMap map, PageMap::open());
  for (const Area& area : areas) {
    if (area.has_file || !area.readable || !area.is_private || area.bytes() < kLargeArea) continue;
    for (std::uintptr_t begin = (area.begin + kHugePage - 1) & ~(kHugePage - 1);
         begin + kHugePage <= area.end; begin += kHugePage)
      if (const MemoryRange block{begin, begin + kHugePage}; is_mostly_present(map, block))
        ::madvise(block.address(), block.bytes(), MADV_COLLAPSE);
  }
  return {};
}

void keep_heap_in_place() {
  ::mallopt(M_MXFAST, 0);
}

void fill_heap_holes() {
  ::malloc_trim(0);
  const std::uintptr_t end = heap_end();
  for (std::size_t size = kLargestHole; size >= kSmallestHole; size -= size > 4096  ? size / 4
                                                                       : size > 512 ? 128
                                                                                    : 16)
    for (;;) {
      void* const hole = ::malloc(size);
      if (reinterpret_cast<std::uintptr_t>(hole) < end && hole) continue;  // kept for ever: that is the point
      ::free(hole);
      break;
    }
}

}  // namespace relay::zygote
