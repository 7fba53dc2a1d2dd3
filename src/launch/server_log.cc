#include "launch/server_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/fd.h"
#include "base/limits.h"
#include "io/spawn.h"

namespace relay::launch {
namespace {

// Runs on the pool. A log that cannot be written is not worth a failed call: the lines in memory remain.
bool append_to_file(const std::filesystem::path& path, const std::string& text) {
  struct stat status{};
  if (::stat(path.c_str(), &status) == 0 &&
      static_cast<std::size_t>(status.st_size) + text.size() > limits::kUpstreamLogBytes) {
    const std::string older = path.string() + ".1";
    ::rename(path.c_str(), older.c_str());
  }
  const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
  return file.is_open() && ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

}  // namespace

void LogFile::append(std::string text) {
  if (pending_.size() + text.size() > limits::kUpstreamStderrPerSecond) return;
  pending_ += text;
  if (writing_) return;
  writing_ = true;
  io::spawn(executor_, write_pending(), "server log");
}

io::Task<void> LogFile::write_pending() {
  const std::shared_ptr<LogFile> self = shared_from_this();
  while (!pending_.empty()) {
    auto work = [path = path_, text = std::exchange(pending_, {})] { return append_to_file(path, text); };
    co_await pool_.run(std::move(work));
  }
  writing_ = false;
  co_return Result<void>{};
}

bool ServerLog::within_budget(std::size_t bytes) {
  const MonoTime now = clock_.mono();
  if (now - second_ >= std::chrono::seconds(1)) {
    second_ = now;
    spent_ = 0;
  }
  if (spent_ + bytes > limits::kUpstreamStderrPerSecond) return false;
  spent_ += bytes;
  return true;
}

void ServerLog::stderr_bytes(std::string_view bytes) {
  if (!within_budget(bytes.size())) {
    dropped_ += bytes.size();
    return;
  }
  if (dropped_ > 0)
    write("relay",
          fmt::format("{} bytes of stderr came too fast and were dropped", std::exchange(dropped_, 0)));
  while (!bytes.empty()) {
    const std::size_t end = std::min(bytes.find('\n'), bytes.size());
    const std::size_t room =
        limits::kUpstreamStderrLineBytes - std::min(partial_.size(), limits::kUpstreamStderrLineBytes);
    partial_.append(bytes.substr(0, std::min(end, room)));
    if (end == bytes.size()) return;
    take_line();
    bytes.remove_prefix(end + 1);
  }
}

void ServerLog::stderr_end() {
  if (!partial_.empty()) take_line();
}

void ServerLog::take_line() {
  std::string line = to_valid_utf8(std::exchange(partial_, {}));
  if (line.ends_with('\r')) line.pop_back();
  if (line.empty()) return;
  line = redactor_->redact(line);
  write("stderr", line);
  lines_.push_back(std::move(line));
  if (lines_.size() > limits::kUpstreamStderrLines) lines_.pop_front();
}

void ServerLog::note(std::string_view text) {
  write("relay", redactor_->redact(utf8_prefix(text, limits::kUpstreamStderrLineBytes)));
}

void ServerLog::begin_process() {
  lines_.clear();
  partial_.clear();
}

void ServerLog::write(std::string_view kind, std::string_view text) {
  if (file_) file_->append(fmt::format("{} {}: {}\n", format_iso8601(clock_.wall()), kind, text));
}

}  // namespace relay::launch
