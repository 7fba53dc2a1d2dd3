// Ledger: the file behind the journal. Synchronous, one thread at a time; the journal's writer thread owns
// it.
//
// Every line goes to the kernel with O_APPEND in one write for many records. Before each write the path is
// compared with the open file, so a rotated log is followed; the chain goes on in the new file. Records that
// the disk refuses stay in a bounded backlog and are written, in order, as soon as it accepts them again.
//
// Processes share a log (a server, and what is run beside it by hand): each write is a turn under the file's
// lock, and who finds the file longer than it left it reads the last record first. All of them write one
// chain. A process gets no turn only when the one that has it stopped: as long as others write, it waits.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "audit/chain.h"
#include "audit/formats.h"
#include "audit/segments.h"
#include "base/clock.h"
#include "base/fd.h"

namespace relay::audit {

enum class Chaining : std::uint8_t { on, off };

/// How long the turn of another process is waited for.
enum class Wait : std::uint8_t {
  brief,     // a moment: the caller is a loop that has other things to do
  ordinary,  // until the log has not grown for two seconds, so the process that has the turn was stopped
  last,      // longer: what is not written now is gone with this process
};

/// Sleeps. Tests put the turns of other processes in its place.
using Pause = std::function<void(std::chrono::microseconds)>;
void sleep_for(std::chrono::microseconds time);

struct LedgerOptions {
  std::string path;
  LogFormat format = LogFormat::jsonl;
  Chaining chain = Chaining::on;  // for jsonl only
  Pause pause = sleep_for;
};

class Ledger {
 public:
  Ledger(LedgerOptions options, const Clock& clock) : options_(std::move(options)), clock_(clock) {}

  /// Opens, resumes the chain from the last record (or from the newest rotated sibling), says what it had to
  /// recover, writes a `start` record and reads it back: after success the chain is known to be alive.
  Result<void> start();

  /// Hands the records to the kernel, after everything in the backlog. On failure they join the backlog.
  Result<void> append(std::vector<Record> records, Wait wait = Wait::ordinary);

  /// The last append failed because another process had the turn, not because the file refused anything.
  [[nodiscard]] bool got_no_turn() const { return got_no_turn_; }

  /// On a file system of this machine: a write ends soon, whatever it says.
  [[nodiscard]] bool is_local() const { return is_local_; }
  [[nodiscard]] std::size_t backlog() const { return backlog_.size(); }
  /// Records that did not fit the backlog; the log itself says so when it can again.
  [[nodiscard]] std::uint64_t lost() const { return lost_total_; }
  [[nodiscard]] const ChainPoint& point() const { return point_; }

 private:
  /// While it lives, nobody else writes.
  class Turn {
   public:
    explicit Turn(int file) : file_(file) {}
    Turn(Turn&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
    Turn& operator=(Turn&&) = delete;
    ~Turn();

   private:
    int file_;
  };
  /// The file is open, the one that the path names, and point_ is where its chain ends.
  Result<Turn> take_turn(Wait wait);
  Result<Turn> lock(int file);
  Result<void> open_file();
  [[nodiscard]] bool is_current() const;
  Result<void> catch_up();
  Result<void> learn_size();
  Result<void> write_backlog();
  Result<void> resume();
  Result<void> resume_from_rotated();
  Result<void> resume_from_segment(const std::string& path);
  Result<std::string> resume_from_scan(const std::string& path);
  static std::string split_torn(FileTail& tail);
  bool resume_from_lines(const std::vector<std::string>& lines);
  Result<void> self_test() const;
  void keep(std::vector<Record> records);
  /// The backlog as it goes to the file: first what there is to say about a torn line, then `records` of the
  /// backlog.
  [[nodiscard]] std::string render(std::size_t records, ChainPoint& point) const;
  void append_line(std::string& out, const Record& record, ChainPoint& point) const;
  void commit(std::size_t records, ChainPoint point);
  /// Gives the number of bytes that got to the file when not all did.
  struct Shortfall {
    std::size_t written;
    Error error;
  };
  std::optional<Shortfall> write_all(std::string_view text);
  void undo_partial(std::string_view text, std::size_t written);

  LedgerOptions options_;
  const Clock& clock_;
  Fd file_;
  ino_t inode_ = 0;
  dev_t device_ = 0;
  bool is_local_ = false;
  std::optional<off_t> size_;  // as this process left it, or last saw it
  Fd left_;                    // rotated away under us; open, so that no other file gets its inode
  Wait wait_ = Wait::ordinary;
  bool got_no_turn_ = false;
  bool has_given_up_ = false;  // an ordinary wait was in vain; the next ones are brief until one is not
  ChainPoint point_;
  std::string torn_;  // what follows the last record of the log and is not a record: an unfinished write
  bool torn_open_ = false;  // its line has no newline yet
  WallTime torn_at_{};
  std::deque<Record> backlog_;
  std::size_t backlog_bytes_ = 0;
  std::uint64_t lost_ = 0;  // not yet told in the log
  std::uint64_t lost_total_ = 0;
};

}  // namespace relay::audit
