// Quota: how much a workspace may hold. One for /tmp and /out of a workspace together.
//
// Every change of a workspace measures and changes under the quota's lock (a Quota::Change), so that two
// writers who replace the same file cannot both be paid back for the old one. The count starts from a scan;
// when it says full, it is made again before anyone is refused, because people delete files behind our back.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>

namespace relay::vfs {

struct Usage {
  std::uint64_t bytes = 0;
  std::uint64_t files = 0;  // directories count as files
};

class Quota {
 public:
  /// measure counts what is on the disk now; it runs under the lock.
  Quota(Usage limit, std::function<Usage()> measure);

  /// The right to change the workspace, for one operation. A change without a quota allows everything.
  class Change {
   public:
    explicit Change(Quota* quota);
    /// Asks for more room before it is used; false when there is not enough.
    [[nodiscard]] bool charge(std::uint64_t bytes, std::uint64_t files);
    /// Gives room back after it became free.
    void credit(std::uint64_t bytes, std::uint64_t files);

   private:
    Quota* quota_;
    std::unique_lock<std::mutex> lock_;
  };

  [[nodiscard]] Usage used() const;
  [[nodiscard]] Usage limit() const { return limit_; }

 private:
  [[nodiscard]] bool fits(std::uint64_t bytes, std::uint64_t files) const;

  const Usage limit_;
  const std::function<Usage()> measure_;
  mutable std::mutex mutex_;
  Usage used_;
  std::uint32_t refusals_ = 0;  // in a row; a full count is made again at the first and every 32nd
};

}  // namespace relay::vfs
