#include "memory_image.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "cheap_fork.h"
#include "memory_map.h"
#include "trial_child.h"

namespace relay::zygote {
namespace {

#ifndef MADV_POPULATE_READ
constexpr int MADV_POPULATE_READ = 22;
#endif
#ifndef MFD_EXEC
constexpr unsigned MFD_EXEC = 0x10;
#endif

constexpr const char* kImageName = "relay-image";
constexpr off_t kImageBytes = off_t{1}
                              << 47;  // an area lies at its own address, so that neighbours stay one mapping
constexpr std::size_t kFewestToMove = 16;  // a mapping more is dearer than the entries of fewer
constexpr std::size_t kFewestToKeep = 4;   // a fault brings as many

struct Move {
  MemoryRange area;
  int protection = 0;
};

int protection_of(const Area& area) {
  return (area.readable ? PROT_READ : 0) | (area.writable ? PROT_WRITE : 0) |
         (area.executable ? PROT_EXEC : 0);
}

bool is_special(const Area& area) {
  return area.name.starts_with("[") && area.name != "[heap]";
}

std::size_t count_pages(const std::vector<MemoryRange>& ranges) {
  std::size_t bytes = 0;
  for (const MemoryRange& range : ranges) bytes += range.bytes();
  return bytes / kPageBytes;
}

// A program's constants that were relocated count too: nothing of the file is left in them.
std::optional<Move> plan_move(const Area& area, const PageMap& map) {
  if (!area.is_private || !area.readable || is_special(area) || (area.has_file && area.writable) ||
      area.bytes() >= kLargeArea)
    return std::nullopt;
  if (!map.find(area, [](const Page& page) { return page.is_file(); }).empty()) return std::nullopt;
  const std::vector<MemoryRange> pages = map.find(area, [](const Page& page) { return page.is_there(); });
  if (count_pages(pages) < kFewestToMove) return std::nullopt;
  if (area.has_file && count_pages(pages) != area.bytes() / kPageBytes) return std::nullopt;
  return Move{{pages.front().begin, pages.back().end}, protection_of(area)};
}

Result<Fd> create_image() {
  int fd = ::memfd_create(kImageName, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_EXEC);
  if (fd < 0 && errno == EINVAL)
    fd = ::memfd_create(kImageName, MFD_CLOEXEC | MFD_ALLOW_SEALING);  // before Linux 6.3
  Fd image(fd);
  if (!image.is_open()) return fail(from_errno(errno, "create the memory image"));
  if (::ftruncate(image.get(), kImageBytes) != 0) return fail(from_errno(errno, "size the memory image"));
  return image;
}

bool write_pages(const MemoryRange& pages, int image) {
  for (std::uintptr_t at = pages.begin; at < pages.end;) {
    const MemoryRange rest{at, pages.end};
    const ssize_t written = ::pwrite(image, rest.address(), rest.bytes(), static_cast<off_t>(at));
    if (written <= 0) return false;
    at += static_cast<std::size_t>(written);
  }
  return true;
}

// Between the write and the mapping nothing may change in the area, and the area may be the heap: no
// allocation in here. Pages that are not there read as zero afterwards, as they do now.
bool move(const Move& move, const PageMap& map, int image) {
  bool whole = true;
  map.for_each(
      move.area, [](const Page& page) { return page.is_there(); },
      [&](const MemoryRange& pages) { whole = whole && write_pages(pages, image); });
  return whole && ::mmap(move.area.address(), move.area.bytes(), move.protection, MAP_PRIVATE | MAP_FIXED,
                         image, static_cast<off_t>(move.area.begin)) != MAP_FAILED;
}

bool is_image(const Area& area) {
  return area.name.find(kImageName) != std::string::npos;
}

// Mappings whose pages come from a file as they are: programs without their variables, and the image.
bool is_refillable(const Area& area) {
  return area.is_private && area.readable && area.has_file && (!area.writable || is_image(area));
}

// Where runs may read: anywhere in the image, and in programs where the zygote has been since it forgot them.
std::vector<MemoryRange> find_candidates(const std::vector<Area>& areas, const PageMap& map) {
  std::vector<MemoryRange> candidates;
  for (const Area& area : areas) {
    if (is_image(area))
      candidates.push_back(area.range());
    else
      std::ranges::copy(map.find(area, [](const Page& page) { return page.is_file(); }),
                        std::back_inserter(candidates));
  }
  return candidates;
}

// A fault maps the pages around it too, but never beyond its mapping: every page becomes a mapping of its
// own.
void fault_page_by_page(const std::vector<MemoryRange>& candidates) {
  for (const MemoryRange& range : candidates)
    for (std::uintptr_t at = range.begin; at < range.end; at += 2 * kPageBytes)
      ::madvise(MemoryRange{at, at + kPageBytes}.address(), kPageBytes, MADV_RANDOM);
}

struct Kept {
  MemoryRange area;
  std::vector<MemoryRange> pages;
};

void forget(const MemoryRange& pages) {
  if (pages.begin < pages.end) ::madvise(pages.address(), pages.bytes(), MADV_DONTNEED);
}

// What is not kept is unmapped; pages of our own, which no fault would bring back, are left alone. That must
// be looked at and done without a write in between.
void keep_only(const Kept& kept, const PageMap& map) {
  for (const MemoryRange& pages : kept.pages) ::madvise(pages.address(), pages.bytes(), MADV_POPULATE_READ);
  const auto forget_around = [&kept](const MemoryRange& there) {
    std::uintptr_t at = there.begin;
    for (const MemoryRange& pages : kept.pages) {
      if (pages.end <= at || pages.begin >= there.end) continue;
      forget({at, pages.begin});
      at = pages.end;
    }
    forget({at, there.end});
  };
  map.for_each(kept.area, [](const Page& page) { return page.is_file(); }, forget_around);
}

// One byte is written with itself, through the file that may write to memory that must not be written. Where
// even that is forbidden the children fault.
void let_fork_copy(const MemoryRange& pages, int memory) {
  const char same = *static_cast<const char*>(pages.address());
  [[maybe_unused]] const ssize_t written = ::pwrite(memory, &same, 1, static_cast<off_t>(pages.begin));
}

}  // namespace

Result<void> forget_program_pages() {
  RELAY_TRY(const std::vector<Area> areas, read_areas());
  RELAY_TRY(const PageMap map, PageMap::open());
  for (const Area& area : areas)
    if (is_refillable(area)) keep_only({area.range(), {}}, map);
  return {};
}

Result<void> move_into_image() {
  RELAY_TRY(const Fd image, create_image());
  RELAY_TRY(const std::vector<Area> areas, read_areas());
  RELAY_TRY(const PageMap map, PageMap::open());
  std::vector<Move> moves;
  for (const Area& area : areas)
    if (auto planned = plan_move(area, map)) moves.push_back(*planned);
  for (const Move& planned : moves) (void)move(planned, map, image.get());
  if (::fcntl(image.get(), F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) != 0)
    return fail(from_errno(errno, "seal the memory image"));
  return {};
}

Result<void> keep_pages_that_runs_read(const std::function<Result<void>()>& trial) {
  RELAY_TRY(std::vector<Area> areas, read_areas());
  RELAY_TRY(const PageMap map, PageMap::open());
  std::erase_if(areas, [](const Area& area) { return !is_refillable(area); });
  const std::vector<MemoryRange> candidates = find_candidates(areas, map);
  const auto careful_trial = [&] {
    fault_page_by_page(candidates);
    return trial();
  };
  std::vector<Kept> kept;
  const auto look = [&](const std::string& process) -> Result<void> {
    RELAY_TRY(const PageMap pages, PageMap::open(process));
    for (const Area& area : areas)
      kept.push_back({area.range(), pages.find(area, [](const Page& page) { return page.is_file(); })});
    return {};
  };
  RELAY_CHECK(watch_trial(careful_trial, look));
  const Fd memory(::open("/proc/self/mem", O_RDWR | O_CLOEXEC));
  for (Kept& area : kept) {
    if (count_pages(area.pages) < kFewestToKeep) area.pages.clear();
    keep_only(area, map);
    if (!area.pages.empty()) let_fork_copy(area.pages.front(), memory.get());
  }
  return {};
}

}  // namespace relay::zygote
