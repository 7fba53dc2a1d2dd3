// ServerLog: what a server said on stderr and what happened to it, for people. The last lines are kept in
// memory; all of it goes to a file that is bounded: full, it becomes NAME.log.1 and a new one begins. Secrets
// are blotted out before anything is kept.
//
// A flood costs neither memory nor time: beyond a budget per second bytes are dropped, and a line says how
// many.
#pragma once

#include <deque>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "io/thread_pool.h"
#include "secrets/redactor.h"

namespace relay::launch {

/// Appends text to a file on the thread pool, one write at a time; what comes faster than the disk takes it
/// is dropped.
class LogFile : public std::enable_shared_from_this<LogFile> {
 public:
  LogFile(io::Loop executor, io::ThreadPool& pool, std::filesystem::path path)
      : executor_(std::move(executor)), pool_(pool), path_(std::move(path)) {}
  void append(std::string text);

 private:
  io::Task<void> write_pending();

  io::Loop executor_;
  io::ThreadPool& pool_;
  std::filesystem::path path_;
  std::string pending_;
  bool writing_ = false;
};

class ServerLog {
 public:
  /// Without a file only the last lines are kept.
  ServerLog(const Clock& clock, std::shared_ptr<const secrets::Redactor> redactor,
            std::shared_ptr<LogFile> file)
      : clock_(clock), redactor_(std::move(redactor)), file_(std::move(file)) {}

  /// Bytes of stderr, cut anywhere.
  void stderr_bytes(std::string_view bytes);
  /// The stream ended: what is left is a line.
  void stderr_end();
  /// Something that happened: "started", "exited with code 3", "stdout: not a message".
  void note(std::string_view text);

  [[nodiscard]] std::vector<std::string> tail() const { return {lines_.begin(), lines_.end()}; }
  /// Empty when there is none.
  [[nodiscard]] std::string last_line() const { return lines_.empty() ? std::string() : lines_.back(); }
  /// Forgets the lines of an earlier process, so that nobody takes them for this one's.
  void begin_process();
  [[nodiscard]] const secrets::Redactor& redactor() const { return *redactor_; }

 private:
  void take_line();
  void write(std::string_view kind, std::string_view text);
  bool within_budget(std::size_t bytes);

  const Clock& clock_;
  std::shared_ptr<const secrets::Redactor> redactor_;
  std::shared_ptr<LogFile> file_;
  std::deque<std::string> lines_;
  std::string partial_;      // of the line that has begun, up to its limit
  MonoTime second_{};        // when the running second began
  std::size_t spent_ = 0;    // bytes looked at in it
  std::size_t dropped_ = 0;  // since the last line that said so
};

}  // namespace relay::launch
