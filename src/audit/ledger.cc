#include "audit/ledger.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <ranges>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "audit/canonical.h"
#include "audit/segments.h"
#include "base/limits.h"

namespace relay::audit {
namespace {

constexpr std::size_t kResumeLines = 64;
constexpr int kTurnTries = 4;  // each rotation in between costs one
constexpr int kListTries = 8;  // each change of the rotated files while they are read costs one

using std::chrono::microseconds;
using namespace std::chrono_literals;

// Short from first to last: pauses that keep growing find a busy log locked at each of a few looks.
constexpr microseconds kLockPause = 20us;
constexpr microseconds kLockPauseMax = 2ms;

struct WaitLimit {
  microseconds stalled;  // since somebody last wrote
  microseconds total;
};

WaitLimit limit_of(Wait wait) {
  switch (wait) {
    case Wait::brief: return {5ms, 5ms};
    case Wait::ordinary: return {2s, 10s};
    case Wait::last: return {10s, 30s};
  }
  std::unreachable();
}

off_t size_of(int file) {
  struct stat info{};
  return ::fstat(file, &info) == 0 ? info.st_size : -1;
}

bool is_same_file(int one, int other) {
  struct stat a{};
  struct stat b{};
  return ::fstat(one, &a) == 0 && ::fstat(other, &b) == 0 && a.st_ino == b.st_ino && a.st_dev == b.st_dev;
}

// As a verifier puts them together: blank lines between them do not count.
std::string join_fragments(std::string_view first, std::string_view second) {
  return fmt::format("{}{}{}", first, first.empty() || second.empty() ? "" : "\n", second);
}

std::string tear_args(std::string_view fragment) {
  return fmt::format(R"({{"fragment_bytes":{},"fragment_sha256":"{}"}})", fragment.size(),
                     sha256_hex(fragment));
}

bool is_intact(const ParsedLine& line) {
  return line.chained() && chain_hash(line.prev, line.canonical) == line.chain;
}

Error sink_error(int error_number, const std::string& path) {
  Error error = from_errno(error_number, fmt::format("the audit log {}", path));
  error.kind = ErrorKind::unavailable;
  error.blame = Blame::environment;
  return error;
}

constexpr long kXfs = 0x58465342;  // not among the kernel's public ones

bool is_on_local_disk(int file) {
  struct statfs info{};
  if (::fstatfs(file, &info) != 0) return false;
  switch (info.f_type) {
    case EXT4_SUPER_MAGIC:
    case kXfs:
    case BTRFS_SUPER_MAGIC:
    case F2FS_SUPER_MAGIC:
    case TMPFS_MAGIC:
    case OVERLAYFS_SUPER_MAGIC: return true;
    default: return false;
  }
}

}  // namespace

void sleep_for(microseconds time) {
  std::this_thread::sleep_for(time);
}

Result<void> Ledger::start() {
  std::vector<Record> records;
  records.push_back(make_event(clock_.wall(), "start", fmt::format(R"({{"pid":{}}})", ::getpid())));
  keep(std::move(records));
  RELAY_TRY(const Turn turn, take_turn(Wait::ordinary));
  RELAY_CHECK(write_backlog());
  return self_test();
}

Ledger::Turn::~Turn() {
  if (file_ >= 0) ::flock(file_, LOCK_UN);
}

// Others hold the lock for one write. One that holds it while nothing is written was stopped in its turn.
// Waiting is counted in pauses, not measured: on a loaded machine a pause takes longer, as does the turn of
// the other process.
Result<Ledger::Turn> Ledger::lock(int file) {
  const WaitLimit limit = limit_of(has_given_up_ && wait_ == Wait::ordinary ? Wait::brief : wait_);
  microseconds stalled{0};
  microseconds total{0};
  off_t seen = size_of(file);
  for (microseconds pause = kLockPause;; pause = std::min(pause * 2, kLockPauseMax)) {
    if (::flock(file, LOCK_EX | LOCK_NB) == 0) return Turn(file);
    if (errno != EWOULDBLOCK && errno != EINTR) return fail(sink_error(errno, options_.path));
    if (const off_t now = size_of(file); now != seen) {
      seen = now;
      stalled = {};
    }
    if (stalled >= limit.stalled || total >= limit.total) break;
    options_.pause(pause);
    stalled += pause;
    total += pause;
  }
  got_no_turn_ = true;
  has_given_up_ = has_given_up_ || wait_ != Wait::brief;
  return fail(unavailable(
      fmt::format("the audit log {} is held by another process, which does not go on", options_.path)));
}

bool Ledger::is_current() const {
  struct stat now{};
  return ::stat(options_.path.c_str(), &now) == 0 && now.st_ino == inode_ && now.st_dev == device_;
}

Result<Ledger::Turn> Ledger::take_turn(Wait wait) {
  wait_ = wait;
  got_no_turn_ = false;
  for (int tries = 0; tries < kTurnTries; ++tries) {
    if (!file_.is_open()) RELAY_CHECK(open_file());
    {
      RELAY_TRY(Turn turn, lock(file_.get()));
      // Also with a file that was rotated away: the chain goes on from its last record.
      RELAY_CHECK(catch_up());
      if (is_current()) {
        has_given_up_ = false;
        left_.reset();
        return turn;
      }
    }
    // A fragment stays behind in the rotated file; the new one begins with its explanation.
    torn_open_ = false;
    left_ = std::move(file_);
  }
  return fail(
      unavailable(fmt::format("the audit log {} is rotated faster than it can be written", options_.path)));
}

// What others wrote since our last turn, or what there is in a file that was just opened.
Result<void> Ledger::catch_up() {
  const std::optional<off_t> known = size_;
  RELAY_CHECK(learn_size());
  if (size_ == known) return {};
  if (options_.format != LogFormat::jsonl) return {};
  const ChainPoint own = point_;
  const bool is_new = size_ == 0;
  size_.reset();  // when this fails, the next turn must not take the end of the chain for known
  RELAY_CHECK(is_new ? resume_from_rotated() : resume());
  if (own.seq > point_.seq) point_ = own;  // nobody went on, or the file was emptied in its place
  return learn_size();                     // a line may have been ended
}

Result<void> Ledger::learn_size() {
  struct stat info{};
  if (::fstat(file_.get(), &info) != 0) return fail(sink_error(errno, options_.path));
  size_ = info.st_size;
  return {};
}

Result<void> Ledger::open_file() {
  std::error_code ignored;
  const std::filesystem::path folder = std::filesystem::path(options_.path).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder, ignored);
  Fd fd(::open(options_.path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600));
  if (!fd.is_open()) return fail(sink_error(errno, options_.path));
  struct stat info{};
  if (::fstat(fd.get(), &info) != 0) return fail(sink_error(errno, options_.path));
  if (!S_ISREG(info.st_mode))
    return fail(unavailable(fmt::format("the audit log {} is not a regular file", options_.path)));
  // An append-only file refuses this; then it was made by somebody who knew what they did.
  if ((info.st_mode & 0777) != 0600) (void)::fchmod(fd.get(), 0600);
  file_ = std::move(fd);
  inode_ = info.st_ino;
  device_ = info.st_dev;
  is_local_ = is_on_local_disk(file_.get());
  size_.reset();
  return {};
}

Result<void> Ledger::resume() {
  RELAY_TRY(FileTail tail, read_tail(file_.get(), kResumeLines, 2 * limits::kAuditLineBytes));
  if (!tail.fragment.empty() && parse_line(tail.fragment)) {
    // The record is whole, only its newline is missing: end the line, and it counts.
    if (auto shortfall = write_all("\n")) return fail(std::move(shortfall->error));
    tail.lines.push_back(std::move(tail.fragment));
    tail.fragment.clear();
  }
  torn_open_ = !tail.fragment.empty();
  std::string torn = split_torn(tail);
  const bool holds_records = !tail.lines.empty();
  if (options_.chain == Chaining::off || resume_from_lines(tail.lines) || holds_records) {
    torn_ = std::move(torn);
    return {};
  }
  RELAY_CHECK(resume_from_rotated());
  torn_ = join_fragments(torn_, torn);
  return {};
}

// Takes what follows the last record off the tail.
std::string Ledger::split_torn(FileTail& tail) {
  std::string torn = std::move(tail.fragment);
  while (!tail.lines.empty() && !parse_line(tail.lines.back())) {
    torn = join_fragments(tail.lines.back(), torn);
    tail.lines.pop_back();
  }
  return torn;
}

bool Ledger::resume_from_lines(const std::vector<std::string>& lines) {
  for (const std::string& text : std::views::reverse(lines)) {
    const auto line = parse_line(text);
    if (!line || !is_intact(*line)) continue;
    point_ = {*line->seq + 1, line->chain};
    return true;
  }
  return false;
}

// A rotation tool renames and compresses while this reads. The last record was found when the files are the
// same afterwards.
Result<void> Ledger::resume_from_rotated() {
  if (options_.chain == Chaining::off) return {};
  const std::string carried = torn_;  // the end of the file that was left
  std::vector<Segment> rotated = find_rotated(options_.path);
  for (int tries = 0; tries < kListTries; ++tries) {
    torn_ = carried;
    Result<void> resumed = rotated.empty() ? Result<void>{} : resume_from_segment(rotated.back().path);
    std::vector<Segment> now = find_rotated(options_.path);
    if (now == rotated) return resumed;
    rotated = std::move(now);
  }
  torn_ = carried;
  return fail(unavailable(
      fmt::format("the files of the audit log {} are renamed faster than they can be read", options_.path)));
}

Result<void> Ledger::resume_from_segment(const std::string& path) {
  const Fd held(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!held.is_open()) return fail(sink_error(errno, path));
  if (left_.is_open() && is_same_file(held.get(), left_.get())) return {};  // its last record is known
  RELAY_TRY(const Turn last_turn, lock(held.get()));  // of a process that began it before the rotation
  // What follows its last record is a write that was interrupted before the file was rotated.
  RELAY_TRY(FileTail tail, read_tail(held.get(), kResumeLines, 2 * limits::kAuditLineBytes));
  if (!tail.fragment.empty() && parse_line(tail.fragment)) tail.lines.push_back(std::move(tail.fragment));
  std::string after = split_torn(tail);
  if (!resume_from_lines(tail.lines)) {
    RELAY_TRY(after, resume_from_scan(path));
  }
  torn_ = std::move(after);
  return {};
}

// For compressed files, and for those whose end holds no record. Gives what follows the last record.
Result<std::string> Ledger::resume_from_scan(const std::string& path) {
  RELAY_TRY(LineFile file, LineFile::open(path));
  std::string after;
  for (;;) {
    RELAY_TRY(const auto line, file.next());
    if (!line) return after;
    if (resume_from_lines({std::string(line->text)})) {
      after.clear();
    } else if (!parse_line(line->text)) {
      after = join_fragments(after, line->text);
    }
  }
}

Result<void> Ledger::self_test() const {
  if (options_.format != LogFormat::jsonl || options_.chain == Chaining::off) return {};
  RELAY_TRY(FileTail tail, read_tail(file_.get(), 1, limits::kAuditLineBytes));
  const auto line =
      tail.lines.empty() ? Result<ParsedLine>(fail(invalid("empty"))) : parse_line(tail.lines.back());
  if (!line || !is_intact(*line) || line->chain != point_.prev)
    return fail(
        unavailable(fmt::format("the audit log {} does not hold what was written to it", options_.path)));
  return {};
}

Result<void> Ledger::append(std::vector<Record> records, Wait wait) {
  keep(std::move(records));
  RELAY_TRY(const Turn turn, take_turn(wait));
  return write_backlog();
}

Result<void> Ledger::write_backlog() {
  ChainPoint point = point_;
  const std::string text = render(backlog_.size(), point);
  if (auto shortfall = write_all(text)) {
    if (shortfall->written > 0) undo_partial(text, shortfall->written);
    [[maybe_unused]] const auto ignored = learn_size();  // of two errors the first is told
    return fail(std::move(shortfall->error));
  }
  *size_ += static_cast<off_t>(text.size());
  commit(backlog_.size(), std::move(point));
  lost_ = 0;
  return {};
}

void Ledger::commit(std::size_t records, ChainPoint point) {
  for (std::size_t i = 0; i < records; ++i) backlog_bytes_ -= backlog_[i].text().size();
  backlog_.erase(backlog_.begin(), backlog_.begin() + static_cast<std::ptrdiff_t>(records));
  point_ = std::move(point);
  torn_.clear();
  torn_open_ = false;
}

void Ledger::keep(std::vector<Record> records) {
  // One time for what this batch says about the log itself, so that rendering it twice gives the same bytes.
  torn_at_ = clock_.wall();
  for (Record& record : records) {
    const bool fits = backlog_.empty() || (backlog_.size() < limits::kAuditBacklogRecords &&
                                           backlog_bytes_ < limits::kAuditBacklogBytes);
    if (!fits) {
      ++lost_;
      ++lost_total_;
      continue;
    }
    backlog_bytes_ += record.text().size();
    backlog_.push_back(std::move(record));
  }
}

std::string Ledger::render(std::size_t records, ChainPoint& point) const {
  std::string out;
  out.reserve(backlog_bytes_ + records * 256 + 256);
  if (torn_open_) out += '\n';
  if (!torn_.empty()) append_line(out, make_event(torn_at_, "recovered", tear_args(torn_)), point);
  for (std::size_t i = 0; i < records; ++i) append_line(out, backlog_[i], point);
  if (lost_ > 0 && records == backlog_.size())
    append_line(out, make_event(torn_at_, "lost", fmt::format(R"({{"records":{}}})", lost_)), point);
  return out;
}

void Ledger::append_line(std::string& out, const Record& record, ChainPoint& point) const {
  switch (options_.format) {
    case LogFormat::jsonl:
      return options_.chain == Chaining::on ? append_chained(out, record, point) : append_plain(out, record);
    case LogFormat::cef: return append_cef(out, record);
    case LogFormat::leef: return append_leef(out, record);
  }
}

std::optional<Ledger::Shortfall> Ledger::write_all(std::string_view text) {
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t put = ::write(file_.get(), text.data() + written, text.size() - written);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return Shortfall{written, sink_error(put < 0 ? errno : EIO, options_.path)};
    written += static_cast<std::size_t>(put);
  }
  return std::nullopt;
}

// Half a batch is on disk. Taking it back leaves everything as it was. Where the file cannot be shortened
// (append-only), the records whose lines are whole count, and the rest is a torn line that the next write
// ends and explains.
void Ledger::undo_partial(std::string_view text, std::size_t written) {
  struct stat info{};
  const bool known = ::fstat(file_.get(), &info) == 0;
  if (known && ::ftruncate(file_.get(), info.st_size - static_cast<off_t>(written)) == 0) return;
  std::size_t whole = backlog_.size() + 1;
  ChainPoint point;
  std::string rendered;
  do {
    if (whole-- == 0) {  // not even the explanation of the last tear is whole
      torn_ += text.substr(0, written);
      torn_open_ = true;
      return;
    }
    point = point_;
    rendered = render(whole, point);
  } while (rendered.size() > written);
  commit(whole, std::move(point));
  torn_ = text.substr(rendered.size(), written - rendered.size());
  torn_open_ = !torn_.empty();
}

}  // namespace relay::audit
