#include "hot_pages.h"

#include <poll.h>
#include <sys/mman.h>

#include <string>

#include "trial_child.h"

namespace relay::zygote {
namespace {

#ifndef MADV_POPULATE_WRITE
constexpr int MADV_POPULATE_WRITE = 23;
#endif

// A range stays within its area: one whose protection changes would spoil its neighbours.
Result<std::vector<MemoryRange>> find_own_pages(const std::string& process) {
  RELAY_TRY(const std::vector<Area> areas, read_areas(process));
  RELAY_TRY(const PageMap pages, PageMap::open(process));
  std::vector<MemoryRange> own;
  for (const Area& area : areas) {
    if (!area.readable || !area.writable || area.executable || !area.is_private) continue;
    const std::vector<MemoryRange> found = pages.find(area, [](const Page& page) { return page.is_own(); });
    own.insert(own.end(), found.begin(), found.end());
  }
  return own;
}

}  // namespace

void rest_for_a_moment() {
  const timespec moment{.tv_sec = 0, .tv_nsec = 50'000};
  ::ppoll(nullptr, 0, &moment, nullptr);
}

Result<HotPages> HotPages::learn(const std::function<Result<void>()>& trial) {
  HotPages pages;
  const auto look = [&pages](const std::string& process) -> Result<void> {
    RELAY_TRY(pages.ranges_, find_own_pages(process));
    return {};
  };
  RELAY_CHECK(watch_trial(trial, look));
  return pages;
}

void HotPages::prepare() const {
  for (const MemoryRange& range : ranges_) ::madvise(range.address(), range.bytes(), MADV_POPULATE_WRITE);
  rest_for_a_moment();
}

}  // namespace relay::zygote
