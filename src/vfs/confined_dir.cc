#include "vfs/confined_dir.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <deque>
#include <vector>

#include "base/limits.h"
#include "vfs/tree_path.h"

namespace relay::vfs {
namespace {

constexpr std::uint64_t kResolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS;
constexpr int kAgainAttempts = 64;

int open_beneath(int dir, const char* path, int flags, unsigned mode) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags) | O_CLOEXEC;
  how.mode = mode;
  how.resolve = kResolve;
  // EAGAIN: a rename or mount somewhere on the machine raced with the walk, and the kernel could not be sure.
  for (int attempt = 0;; ++attempt) {
    const long fd = ::syscall(SYS_openat2, dir, path, &how, sizeof how);
    if (fd >= 0) return static_cast<int>(fd);
    if ((errno != EAGAIN || attempt >= kAgainAttempts) && errno != EINTR) return -1;
  }
}

// The state of following links by hand: what is resolved, and what is still to be walked.
struct LinkWalk {
  std::vector<std::string> resolved;
  std::deque<std::string> pending;
  std::size_t links = 0;

  void push_front(std::string_view text) {
    std::vector<std::string> parts;
    for (std::size_t at = 0; at <= text.size();) {
      const std::size_t slash = std::min(text.find('/', at), text.size());
      if (slash > at) parts.emplace_back(text.substr(at, slash - at));
      at = slash + 1;
    }
    pending.insert(pending.begin(), parts.begin(), parts.end());
  }
  [[nodiscard]] std::string path() const {
    std::string text;
    for (const std::string& part : resolved) text = join(text, part);
    return text;
  }
};

FileResult<std::string> read_link(const Fd& link, std::string_view path) {
  std::string target(limits::kPathBytes, '\0');
  const ssize_t size = ::readlinkat(link.get(), "", target.data(), target.size());
  if (size < 0) return fail(file_error(errno, path));
  target.resize(static_cast<std::size_t>(size));
  return target;
}

FileResult<> follow(LinkWalk& walk, const Fd& link, std::string_view path) {
  if (++walk.links > limits::kLinksFollowed) return fail(file_error(ELOOP, path, "too many symbolic links"));
  RELAY_FILE_TRY(const std::string target, read_link(link, path));
  if (target.starts_with('/')) return fail(file_error(EXDEV, path));
  walk.resolved.pop_back();
  walk.push_front(target);
  return walk.pending.size() <= limits::kPathBytes ? FileResult<>{} : fail(file_error(ENAMETOOLONG, path));
}

// Walks one part. A missing last part is no error: it may be about to be created.
FileResult<> walk_part(const ConfinedDir& dir, LinkWalk& walk, LastLink last,
                       const ConfinedDir::LinkCheck& may_follow) {
  const std::string part = std::move(walk.pending.front());
  walk.pending.pop_front();
  if (part == ".") return {};
  if (part == "..") {
    if (walk.resolved.empty()) return fail(file_error(EXDEV, part));
    walk.resolved.pop_back();
    return {};
  }
  walk.resolved.push_back(part);
  if (walk.pending.empty() && last == LastLink::keep) return {};
  const std::string path = walk.path();
  auto fd = dir.open_at(path, O_PATH | O_NOFOLLOW);
  if (!fd) {
    const bool may_be_missing = fd.error().number == ENOENT && walk.pending.empty();
    return may_be_missing ? FileResult<>{} : fail(std::move(fd).error());
  }
  struct ::stat status{};
  if (::fstat(fd->get(), &status) != 0) return fail(file_error(errno, path));
  if (!S_ISLNK(status.st_mode)) return {};
  if (may_follow) RELAY_FILE_CHECK(may_follow(path));
  return follow(walk, *fd, path);
}

}  // namespace

FileType type_of_mode(unsigned mode) {
  if (S_ISREG(mode)) return FileType::file;
  if (S_ISDIR(mode)) return FileType::directory;
  return S_ISLNK(mode) ? FileType::link : FileType::other;
}

FileStat make_stat(const struct ::stat& status) {
  const std::int64_t mtime_ms = status.st_mtim.tv_sec * 1000 + status.st_mtim.tv_nsec / 1'000'000;
  return {type_of_mode(status.st_mode), static_cast<std::uint64_t>(status.st_size), mtime_ms,
          status.st_mode & 07777U};
}

FileResult<ConfinedDir> ConfinedDir::open(const std::string& host_path,
                                          std::shared_ptr<const HiddenFiles> hidden) {
  Fd fd(::open(host_path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!fd.is_open()) return fail(file_error(errno, host_path));
  ConfinedDir dir(std::move(fd), std::move(hidden));
  RELAY_FILE_CHECK(dir.open_at("", O_PATH | O_DIRECTORY));
  return dir;
}

FileResult<Fd> ConfinedDir::open_at(std::string_view path, int flags, unsigned mode) const {
  if (hidden_ && !path.empty()) return open_by_parts(path, flags, mode);
  const std::string text(path.empty() ? "." : path);
  const int fd = open_beneath(fd_.get(), text.c_str(), flags, mode);
  if (fd < 0) return fail(file_error(errno, path));
  return Fd(fd);
}

// The descriptor of each part is what the next one is opened from: what was looked at is what is passed
// through.
FileResult<Fd> ConfinedDir::open_by_parts(std::string_view path, int flags, unsigned mode) const {
  struct ::stat status{};
  if (::fstat(fd_.get(), &status) != 0) return fail(file_error(errno, path));
  Fd held;
  for (std::size_t begin = 0;;) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const bool is_last = end == path.size();
    const std::string part(path.substr(begin, end - begin));
    if (hidden_->hides_name(status, part)) return fail(file_error(ENOENT, path));
    const int from = held.is_open() ? held.get() : fd_.get();
    Fd next(open_beneath(from, part.c_str(), is_last ? flags : O_PATH | O_DIRECTORY, is_last ? mode : 0));
    if (!next.is_open()) return fail(file_error(errno, path));
    if (::fstat(next.get(), &status) != 0) return fail(file_error(errno, path));
    if (hidden_->hides(status)) return fail(file_error(ENOENT, path));
    if (is_last) return next;
    held = std::move(next);
    begin = end + 1;
  }
}

FileResult<Fd> ConfinedDir::open_dir(std::string_view path) const {
  return open_at(path, O_RDONLY | O_DIRECTORY);
}

FileResult<Fd> ConfinedDir::open_file(std::string_view path, int flags, unsigned mode) const {
  auto fd = open_at(path, flags | O_NONBLOCK | O_NOCTTY, mode);
  constexpr std::string_view kSpecial = "devices, pipes and sockets are not opened";
  if (!fd) {
    const bool special = fd.error().number == ENXIO || fd.error().number == ENODEV;
    return special ? fail(file_error(EACCES, path, kSpecial)) : std::move(fd);
  }
  struct ::stat status{};
  if (::fstat(fd->get(), &status) != 0) return fail(file_error(errno, path));
  if (S_ISDIR(status.st_mode)) return fail(file_error(EISDIR, path));
  if (!S_ISREG(status.st_mode)) return fail(file_error(EACCES, path, kSpecial));
  return fd;
}

FileResult<std::string> ConfinedDir::resolve(std::string_view path, LastLink last,
                                             const LinkCheck& may_follow) const {
  LinkWalk walk;
  walk.push_front(path);
  while (!walk.pending.empty()) RELAY_FILE_CHECK(walk_part(*this, walk, last, may_follow));
  return walk.path();
}

}  // namespace relay::vfs
