#include "audit/tail.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <limits>

#include "audit/segments.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/limits.h"

namespace relay::audit {
namespace {

constexpr std::size_t kWindowBytes = 64 * limits::kMiB;
constexpr std::size_t kFirstWindowBytes = 1 * limits::kMiB;  // enough for most questions
constexpr std::size_t kWindowGrowth = 8;

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
  return filter.tool.empty() && filter.client.empty() && filter.outcome.empty() && !filter.tier &&
         !filter.denied && !filter.since && filter.starts == Starts::shown;
}

bool has_text(const json::object& record, std::string_view key, const std::string& wanted) {
  return wanted.empty() || json::find_string(record, key) == wanted;
}

bool is_of_client(const json::object& record, const std::string& wanted) {
  if (has_text(record, "client_id", wanted)) return true;
  const std::string_view id = json::find_string(record, "client_id").value_or("");
  return id.starts_with("local/") && id.substr(6) == wanted;
}

// Times in the log are UTC with six digits, so their order is that of their bytes.
bool is_since(const json::object& record, WallTime since) {
  return json::find_string(record, "ts").value_or("") >= std::string_view(format_iso8601(since));
}

bool is_start(const json::object& record) {
  return json::find_string(record, "tool") == "audit" && json::find_string(record, "action") == "start";
}

Result<std::vector<std::string>> matches_in(const std::string& path, const TailFilter& filter,
                                            std::size_t bytes) {
  const bool all = takes_all(filter);
  RELAY_TRY(FileTail tail,
            read_tail(path, all ? filter.lines : std::numeric_limits<std::size_t>::max(), bytes));
  std::erase_if(tail.lines, [&](const std::string& line) { return !passes(filter, line); });
  if (tail.lines.size() > filter.lines)
    tail.lines.erase(tail.lines.begin(), tail.lines.end() - static_cast<std::ptrdiff_t>(filter.lines));
  return std::move(tail.lines);
}

}  // namespace

bool passes(const TailFilter& filter, std::string_view line) {
  if (takes_all(filter)) return true;
  const auto record = json::parse_object(line);
  if (!record) return false;
  if (!has_text(*record, "tool", filter.tool) || !has_text(*record, "outcome", filter.outcome)) return false;
  if (!is_of_client(*record, filter.client)) return false;
  if (filter.tier && json::find_int(*record, "tier") != *filter.tier) return false;
  if (filter.denied && json::find_bool(*record, "denied") != *filter.denied) return false;
  if (filter.since && !is_since(*record, *filter.since)) return false;
  return filter.starts == Starts::shown || !is_start(*record);
}

Result<std::vector<std::string>> last_lines(const std::string& path, const TailFilter& filter) {
  RELAY_TRY(FileTail tail, read_tail(path, filter.lines, kWindowBytes));
  std::erase_if(tail.lines, [&](const std::string& line) { return !passes(filter, line); });
  return std::move(tail.lines);
}

Result<std::vector<std::string>> last_matches(const std::string& path, const TailFilter& filter) {
  if (::access(path.c_str(), F_OK) != 0) return fail(not_found("there is no audit log " + path));
  std::error_code unknown;
  const std::uintmax_t size = std::filesystem::file_size(path, unknown);
  for (std::size_t bytes = kFirstWindowBytes;; bytes *= kWindowGrowth) {
    RELAY_TRY(std::vector<std::string> lines, matches_in(path, filter, bytes));
    if (lines.size() == filter.lines || bytes >= kWindowBytes || bytes >= size) return lines;
  }
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
