#include "memory_image.h"

#include <malloc.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

#include <gmock/gmock.h>

#include "memory_map.h"

namespace {
std::size_t allocations = 0;
}

void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* const memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace relay::zygote {
namespace {

constexpr std::size_t kPages = 1300;

// In a process of its own: what is tested moves all of its memory. Gives the line that failed, or nothing.
int run_apart(const std::function<int()>& body) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(body());
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

#define EXPECT_HERE(condition) \
  if (!(condition)) return __LINE__ % 250 + 1

unsigned char* make_area(int protection = PROT_READ | PROT_WRITE) {
  auto* const area = static_cast<unsigned char*>(
      ::mmap(nullptr, kPages * kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  for (std::size_t i = 0; i < kPages * kPageBytes; ++i)
    area[i] = static_cast<unsigned char>(i / kPageBytes + i);
  ::mprotect(area, kPages * kPageBytes, protection);
  return area;
}

bool is_whole(const unsigned char* area) {
  for (std::size_t i = 0; i < kPages * kPageBytes; ++i)
    if (area[i] != static_cast<unsigned char>(i / kPageBytes + i)) return false;
  return true;
}

MemoryRange range_of(const unsigned char* area) {
  const auto begin = reinterpret_cast<std::uintptr_t>(area);
  return {begin, begin + kPages * kPageBytes};
}

std::string name_at(const unsigned char* area) {
  for (const Area& known : read_areas().value_or(std::vector<Area>{}))
    if (known.begin <= range_of(area).begin && range_of(area).begin < known.end) return known.name;
  return "";
}

std::size_t count_present(const unsigned char* area) {
  std::size_t bytes = 0;
  if (const auto map = PageMap::open())
    for (const MemoryRange& pages :
         map->find(range_of(area), [](const Page& page) { return page.is_present(); }))
      bytes += pages.bytes();
  return bytes / kPageBytes;
}

TEST(ParseArea, ReadsALineOfMaps) {
  const auto area = parse_area("7f00a000-7f00c000 rw-p 00000000 00:00 0                          [heap]");
  ASSERT_TRUE(area);
  EXPECT_EQ(area->begin, 0x7f00a000U);
  EXPECT_EQ(area->bytes(), 0x2000U);
  EXPECT_TRUE(area->readable && area->writable && area->is_private);
  EXPECT_FALSE(area->executable || area->has_file);
  EXPECT_EQ(area->name, "[heap]");
}

TEST(ParseArea, KnowsAFileBySpacesInItsName) {
  const auto area = parse_area("1000-3000 r-xs 00001000 fe:01 77 /memfd:a b (deleted)");
  ASSERT_TRUE(area);
  EXPECT_TRUE(area->has_file && area->executable);
  EXPECT_FALSE(area->is_private);
  EXPECT_EQ(area->name, "/memfd:a b (deleted)");
  EXPECT_EQ(parse_area("1000-3000 ---p 00000000 00:00 0")->name, "");
}

TEST(ParseArea, IsNotFooledByOtherLines) {
  for (const char* line :
       {"", "Rss:   4 kB", "VmFlags: rd wr mr", "7f00-", "7f00-7f10", "7f00-7f10 rw", "zz-yy rw-p 0 0 0"})
    EXPECT_FALSE(parse_area(line)) << line;
}

TEST(PageMap, LooksWithoutAllocatingOverAnyNumberOfPages) {
  unsigned char* const area = make_area();
  for (std::size_t page = 0; page < kPages; page += 2)
    ::madvise(area + page * kPageBytes, kPageBytes, MADV_DONTNEED);
  const auto map = PageMap::open();
  ASSERT_TRUE(map);
  std::size_t stretches = 0;
  const std::size_t before = allocations;
  map->for_each(
      range_of(area), [](const Page& page) { return page.is_there(); },
      [&stretches](const MemoryRange& range) { stretches += range.bytes() / kPageBytes; });
  EXPECT_EQ(allocations, before);
  EXPECT_EQ(stretches, kPages / 2);
  EXPECT_EQ(map->find(range_of(area), [](const Page& page) { return page.is_there(); }).size(), kPages / 2);
  ::munmap(area, kPages * kPageBytes);
}

TEST(PageMap, JoinsStretchesThatItLookedAtInPieces) {
  unsigned char* const area = make_area();
  const auto map = PageMap::open();
  ASSERT_TRUE(map);
  const auto found = map->find(range_of(area), [](const Page& page) { return page.is_own(); });
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].bytes(), kPages * kPageBytes);
  ::munmap(area, kPages * kPageBytes);
}

TEST(MemoryImage, HoldsWhatWasThere) {
  EXPECT_EQ(run_apart([] {
              const std::vector<int> on_heap(100'000, 7);
              const unsigned char* const data = make_area();
              const unsigned char* const code = make_area(PROT_READ | PROT_EXEC);
              EXPECT_HERE(move_into_image());
              EXPECT_HERE(name_at(data).contains("relay-image"));
              EXPECT_HERE(name_at(code).contains("relay-image"));
              EXPECT_HERE(is_whole(data) && is_whole(code));
              EXPECT_HERE(std::ranges::all_of(on_heap, [](int item) { return item == 7; }));
              return 0;
            }),
            0);
}

TEST(MemoryImage, IsNobodysToChange) {
  EXPECT_EQ(run_apart([] {
              unsigned char* const data = make_area();
              EXPECT_HERE(move_into_image());
              EXPECT_HERE(run_apart([data] {
                            return static_cast<int>(std::memset(data, 1, kPages * kPageBytes) != data);
                          }) == 0);
              EXPECT_HERE(is_whole(data));
              return 0;
            }),
            0);
}

TEST(MemoryImage, LeavesUntouchedMemoryUntouched) {
  EXPECT_EQ(
      run_apart([] {
        auto* const area = static_cast<char*>(
            ::mmap(nullptr, kPages * kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        std::memset(area, 1, 20 * kPageBytes);
        area[100 * kPageBytes] = 1;
        EXPECT_HERE(move_into_image());
        EXPECT_HERE(area[50 * kPageBytes] == 0 && area[200 * kPageBytes] == 0);
        area[50 * kPageBytes] = area[200 * kPageBytes] = 2;
        EXPECT_HERE(area[19 * kPageBytes] == 1 && area[100 * kPageBytes] == 1 && area[50 * kPageBytes] == 2);
        return 0;
      }),
      0);
}

// The lists that the moving and the unmapping make lie in the heap that is moved and unmapped.
TEST(MemoryImage, KeepsAHeapThatIsInUse) {
  EXPECT_EQ(run_apart([] {
              constexpr std::size_t kBlocks = 1500;
              const auto fill = [](std::vector<std::size_t>& block, std::size_t i) {
                block.assign(512, i);
              };  // a page
              std::vector<std::vector<std::size_t>> blocks(kBlocks);
              for (std::size_t i = 0; i < kBlocks; ++i) fill(blocks[i], i);
              for (std::size_t i = 0; i < kBlocks; i += 3) std::vector<std::size_t>().swap(blocks[i]);
              ::malloc_trim(0);
              EXPECT_HERE(move_into_image());
              for (std::size_t i = 0; i < kBlocks; ++i) (void)std::ranges::count(blocks[i], i);
              for (std::size_t i = 1; i < kBlocks; i += 3) fill(blocks[i], i);
              EXPECT_HERE(keep_pages_that_runs_read([]() -> Result<void> { return {}; }));
              for (std::size_t i = 0; i < kBlocks; i += 3) fill(blocks[i], i);
              for (std::size_t i = 0; i < kBlocks; ++i)
                EXPECT_HERE(std::ranges::all_of(blocks[i], [i](std::size_t item) { return item == i; }));
              return 0;
            }),
            0);
}

TEST(KeepPages, KeepsThoseThatTheTrialReads) {
  EXPECT_EQ(run_apart([] {
              unsigned char* const data = make_area();
              EXPECT_HERE(move_into_image());
              const auto trial = [data]() -> Result<void> {
                for (int page : {7, 8, 9, 300, 301})
                  (void)*static_cast<volatile unsigned char*>(data + page * kPageBytes);
                data[400 * kPageBytes] = 1;
                return {};
              };
              EXPECT_HERE(keep_pages_that_runs_read(trial));
              EXPECT_HERE(count_present(data) == 5);
              EXPECT_HERE(is_whole(data));
              return 0;
            }),
            0);
}

TEST(KeepPages, LosesNothingThatWasWrittenSince) {
  EXPECT_EQ(run_apart([] {
              unsigned char* const data = make_area();
              EXPECT_HERE(move_into_image());
              data[20 * kPageBytes] = 99;
              EXPECT_HERE(keep_pages_that_runs_read([]() -> Result<void> { return {}; }));
              EXPECT_HERE(data[20 * kPageBytes] == 99);
              return 0;
            }),
            0);
}

TEST(KeepPages, SaysThatATrialFailed) {
  EXPECT_FALSE(keep_pages_that_runs_read([]() -> Result<void> { return fail(internal("no")); }));
}

}  // namespace
}  // namespace relay::zygote
