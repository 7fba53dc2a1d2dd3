// Quota: how much a workspace may hold. One for /tmp and /out of a workspace together.
//
// Every change of a workspace measures and changes under the quota's lock (a Quota::Change), so that two
// writers who replace the same file cannot both be paid back for the old one. What is written is counted as
// it is written. A full count of the disk is made twice: at the first change, because files outlive the
// server, and before a change is refused, because people delete files without asking Relay. There is no file
// that keeps the count: after a crash it would be wrong, and a count of the largest workspace takes less than
// a second. The counts run on the thread of the change, which is never the loop's. Safe from several threads.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>

namespace relay::vfs {

struct Usage {
  std::uint64_t bytes = 0;
  std::uint64_t files = 0;  // directories count as files
};

class Quota {
 public:
  /// Counts everything that is on the disk now; nothing when some of it could not be counted. Runs under the
  /// lock.
  using Measure = std::function<std::optional<Usage>()>;
  Quota(Usage limit, Measure measure);

  /// The right to change the workspace, for one operation. A change without a quota allows everything.
  class Change {
   public:
    explicit Change(Quota* quota);
    /// Asks for more room before it is used; false when there is not enough.
    [[nodiscard]] bool charge(std::uint64_t bytes, std::uint64_t files);
    /// Gives room back after it became free.
    void credit(std::uint64_t bytes, std::uint64_t files);
    /// Like charge, for room that is used after this change has ended: a count of the disk adds it until
    /// settle, since the files may not be there yet.
    [[nodiscard]] bool reserve(std::uint64_t bytes, std::uint64_t files);
    void settle(std::uint64_t bytes, std::uint64_t files);

   private:
    Quota* quota_;
    std::unique_lock<std::mutex> lock_;
  };

  /// As counted so far; zero before the first change.
  [[nodiscard]] Usage used() const;
  [[nodiscard]] Usage limit() const { return limit_; }

 private:
  [[nodiscard]] bool fits(std::uint64_t bytes, std::uint64_t files) const;
  void count();

  enum class Known : std::uint8_t { nothing, counted, failed };

  const Usage limit_;
  const Measure measure_;
  mutable std::mutex mutex_;
  Known known_ = Known::nothing;
  Usage used_;
  Usage reserved_;              // part of used_
  std::uint32_t refusals_ = 0;  // in a row; a full count is made again at the first and every 32nd
};

}  // namespace relay::vfs
