#include "audit/tail.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <limits>

#include "audit/segments.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/limits.h"

namespace relay::audit {
namespace {

constexpr std::size_t kWindowBytes = 64 * limits::kMiB;

/// The open end of a log that may be rotated under it.
class Follower {
 public:
  Follower(const std::string& path, const std::function<void(std::string_view)>& print)
      : path_(path), print_(print) {
    reopen(SEEK_END);
  }

  void read_more() {
    drain();
    struct stat now{};
    if (::stat(path_.c_str(), &now) != 0) return;
    const bool rotated = !file_.is_open() || now.st_ino != inode_;
    if (!rotated && now.st_size >= ::lseek(file_.get(), 0, SEEK_CUR)) return;
    reopen(SEEK_SET);
    drain();
  }

 private:
  void reopen(int whence) {
    file_ = Fd(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat info{};
    if (!file_.is_open() || ::fstat(file_.get(), &info) != 0) return;
    inode_ = info.st_ino;
    ::lseek(file_.get(), 0, whence);
    pending_.clear();
  }

  void drain() {
    char buffer[16384];
    for (;;) {
      const ssize_t got = file_.is_open() ? ::read(file_.get(), buffer, sizeof buffer) : 0;
      if (got <= 0) return;
      pending_.append(buffer, static_cast<std::size_t>(got));
      for (std::size_t end = pending_.find('\n'); end != std::string::npos; end = pending_.find('\n')) {
        print_(std::string_view(pending_).substr(0, end));
        pending_.erase(0, end + 1);
      }
    }
  }

  std::string path_;
  std::function<void(std::string_view)> print_;
  Fd file_;
  ino_t inode_ = 0;
  std::string pending_;
};

bool takes_all(const TailFilter& filter) {
  return filter.tool.empty() && !filter.tier && !filter.denied;
}

}  // namespace

bool passes(const TailFilter& filter, std::string_view line) {
  if (takes_all(filter)) return true;
  const auto record = json::parse_object(line);
  if (!record) return false;
  if (!filter.tool.empty() && json::find_string(*record, "tool") != filter.tool) return false;
  if (filter.tier && json::find_int(*record, "tier") != *filter.tier) return false;
  return !filter.denied || json::find_bool(*record, "denied") == *filter.denied;
}

Result<std::vector<std::string>> last_lines(const std::string& path, const TailFilter& filter) {
  RELAY_TRY(FileTail tail, read_tail(path, filter.lines, kWindowBytes));
  std::erase_if(tail.lines, [&](const std::string& line) { return !passes(filter, line); });
  return std::move(tail.lines);
}

Result<std::vector<std::string>> last_matches(const std::string& path, const TailFilter& filter) {
  if (::access(path.c_str(), F_OK) != 0) return fail(not_found("there is no audit log " + path));
  TailFilter all = filter;
  if (!takes_all(filter)) all.lines = std::numeric_limits<std::size_t>::max();
  RELAY_TRY(std::vector<std::string> lines, last_lines(path, all));
  if (lines.size() > filter.lines)
    lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(filter.lines));
  return lines;
}

Result<void> follow(const std::string& path, const TailFilter& filter,
                    const std::function<void(std::string_view)>& print, const std::function<bool()>& more) {
  Follower follower(path, [&](std::string_view line) {
    if (passes(filter, line)) print(line);
  });
  while (more()) follower.read_more();
  return {};
}

}  // namespace relay::audit
