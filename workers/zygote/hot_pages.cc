#include "hot_pages.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <charconv>
#include <fstream>
#include <optional>
#include <string>

#include "base/fd.h"

namespace relay::zygote {
namespace {

constexpr std::size_t kPage = 4096;
#ifndef MADV_POPULATE_WRITE
constexpr int MADV_POPULATE_WRITE = 23;
#endif

// Of a page's 64 bits in pagemap (Documentation/admin-guide/mm/pagemap.rst): in memory, mapped here only, no file behind it.
constexpr std::uint64_t kPresent = std::uint64_t{1} << 63;
constexpr std::uint64_t kFile = std::uint64_t{1} << 61;
constexpr std::uint64_t kExclusive = std::uint64_t{1} << 56;

bool is_own(std::uint64_t page) {
  return (page & kPresent) && (page & kExclusive) && !(page & kFile);
}

// "7f00-7f10 rw-p …"
std::optional<HotPages::Range> find_writable(const std::string& line) {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  const char* const last = line.data() + line.size();
  const auto first = std::from_chars(line.data(), last, begin, 16);
  const auto second = first.ptr < last ? std::from_chars(first.ptr + 1, last, end, 16) : first;
  if (first.ec != std::errc() || second.ec != std::errc() || !std::string_view(second.ptr, last).starts_with(" rw-p")) return std::nullopt;
  return HotPages::Range{begin, end - begin};
}

void add_own_pages(int pagemap, const HotPages::Range& area, std::vector<HotPages::Range>& own) {
  std::vector<std::uint64_t> pages(area.bytes / kPage);
  const auto offset = static_cast<off_t>(area.begin / kPage * sizeof(std::uint64_t));
  const ssize_t got = ::pread(pagemap, pages.data(), pages.size() * sizeof(std::uint64_t), offset);
  const std::size_t earlier = own.size();  // a range stays within its area: one whose protection changes would spoil its neighbours
  for (std::size_t i = 0; got > 0 && i < static_cast<std::size_t>(got) / sizeof(std::uint64_t); ++i) {
    if (!is_own(pages[i])) continue;
    const std::uintptr_t at = area.begin + i * kPage;
    if (own.size() > earlier && own.back().begin + own.back().bytes == at) own.back().bytes += kPage;
    else own.push_back({at, kPage});
  }
}

Result<std::vector<HotPages::Range>> find_own_pages(const std::string& process) {
  std::ifstream maps("/proc/" + process + "/maps");
  const Fd pagemap(::open(("/proc/" + process + "/pagemap").c_str(), O_RDONLY | O_CLOEXEC));
  if (!maps || !pagemap.is_open()) return fail(from_errno(errno, "look at the trial child's pages"));
  std::vector<HotPages::Range> own;
  for (std::string line; std::getline(maps, line);)
    if (const auto area = find_writable(line)) add_own_pages(pagemap.get(), *area, own);
  return own;
}

// The trial child tells what /proc calls it, which its pid namespace hides from us, and stays until it is killed. It does
// nothing besides: a list made here would be among the pages that it lists.
[[noreturn]] void stay_as_trial(const std::function<Result<void>()>& trial, int pipe) {
  char name[32];
  if (!trial()) ::_exit(1);
  const ssize_t length = ::readlink("/proc/self", name, sizeof name);
  if (length <= 0 || ::write(pipe, name, static_cast<std::size_t>(length)) != length) ::_exit(1);
  for (;;) ::pause();
}

void end_trial(pid_t pid) {
  ::kill(pid, SIGKILL);
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace

void rest_for_a_moment() {
  const timespec moment{.tv_sec = 0, .tv_nsec = 50'000};
  ::ppoll(nullptr, 0, &moment, nullptr);
}

Result<HotPages> HotPages::learn(const std::function<Result<void>()>& trial) {
  RELAY_TRY(FdPair pipe, open_pipe());
  const pid_t pid = ::fork();
  if (pid < 0) return fail(from_errno(errno, "fork a trial child"));
  if (pid == 0) stay_as_trial(trial, pipe.second.get());
  pipe.second.reset();
  char name[32];
  const ssize_t length = ::read(pipe.first.get(), name, sizeof name);
  auto own = length > 0 ? find_own_pages(std::string(name, static_cast<std::size_t>(length))) : fail(internal("the trial run failed: no run would work"));
  end_trial(pid);
  if (!own) return fail(std::move(own.error()));
  HotPages pages;
  pages.ranges_ = std::move(*own);
  return pages;
}

void HotPages::prepare() const {
  for (const Range& range : ranges_) ::madvise(reinterpret_cast<void*>(range.begin), range.bytes, MADV_POPULATE_WRITE);
  rest_for_a_moment();
}

}  // namespace relay::zygote
