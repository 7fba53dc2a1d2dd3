// Journal: the audit log as the loop sees it. It turns a Grant into a Recorded, and a Recorded into a closing
// line.
//
// The first line of a turn of the loop is written at once; those that follow, and those that come while
// another write goes on, share a write. close() completes when the line was given to the kernel; a reply that
// leaves after it is on record even if this process dies at that moment. Who writes: a few lines to a local
// file that took the last ones promptly are written by the loop itself, because two changes of threads cost
// more than the write; everything else goes to the writer thread, so that a slow, full or remote disk stops
// no one but the calls that wait for it. The ledger belongs to whoever has the batch; the rest to the loop.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include "audit/ledger.h"
#include "authority/outcome.h"
#include "authority/recorded.h"
#include "io/task.h"

namespace relay::audit {

enum class OnFailure : std::uint8_t {
  refuse,   // a call that cannot be recorded does not run, or is answered with an error
  degrade,  // it runs; the gauge and server_info say that records are waiting in memory
};

struct JournalOptions {
  LedgerOptions ledger;
  OnFailure on_failure = OnFailure::degrade;
  /// Toolsets whose calls are refused whatever on_failure says.
  std::set<std::string, std::less<>> always_refuse{"shell", "ssh"};
  /// The secrets that are known by value: no line holds one. Null: none are known.
  std::shared_ptr<const secrets::Redactor> redactor = nullptr;
};

struct JournalStats {
  bool degraded = false;      // the last write failed
  std::string reason;         // why
  std::uint64_t records = 0;  // handed to the kernel since the start
  std::size_t queued = 0;     // waiting for the writer thread
  std::size_t backlog = 0;    // refused by the disk, kept in memory
  std::uint64_t lost = 0;     // did not fit the backlog
  std::uint64_t batches = 0;  // writes
  std::uint64_t prompt = 0;   // those that the loop made itself
};

class Journal final : public authority::RecordKeeper {
 public:
  /// Starts the writer thread. With OnFailure::refuse a log that cannot be opened is an error; otherwise the
  /// journal starts degraded and tries again with each line.
  static Result<std::unique_ptr<Journal>> start(const io::Loop& loop, JournalOptions options,
                                                const Clock& clock);
  /// Writes what is queued, then stops the thread.
  ~Journal() override;
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  /// Opens the record. Below tier 2 this costs no I/O; from tier 2 on, or when the journal has to prove
  /// itself after a failure, a `begin` line is on record before it completes.
  io::Task<authority::Recorded> open(authority::Grant grant);
  /// Completes when the closing line was handed to the kernel.
  io::Task<void> close(authority::Recorded recorded, authority::Outcome outcome);
  /// One line for a call that got no Grant.
  io::Task<void> refuse(const authority::Call& call, const authority::Decision& decision,
                        authority::Outcome outcome);
  /// A line of another kind, such as a system call that was observed.
  io::Task<void> note(Record record);

  [[nodiscard]] JournalStats stats() const;
  [[nodiscard]] const JournalOptions& options() const;

 private:
  struct Core;
  struct Batch;
  struct EffectLines;
  explicit Journal(std::shared_ptr<Core> core);
  void abandon(const authority::Grant& grant) noexcept override;
  [[nodiscard]] std::shared_ptr<authority::EffectWriter> effect_writer() override;
  [[nodiscard]] bool must_be_recorded(const authority::Call& call) const;
  std::shared_ptr<Batch> submit(Record record);
  static io::Task<void> written(std::shared_ptr<Batch> batch);

  std::shared_ptr<Core> core_;
};

}  // namespace relay::audit
