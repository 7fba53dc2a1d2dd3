// RefusalBook: what guests wanted from the network and did not get, as counts for the metrics page and lines
// of the program's log. The audit log has it from the run's own record. Loop thread only.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/log.h"
#include "fetch/guarded_fetch.h"
#include "metrics/registry.h"

namespace relay::world {

class RefusalBook {
 public:
  explicit RefusalBook(Log& log) : log_(log) {}

  /// A run that only ever asks for what it may not have is counted to the end, but does not fill the log.
  void add(const fetch::BlockedFetch& refusal, const authority::Call& run);

  /// relay_fetch_refusals_total, by what was refused.
  void measure(metrics::Registry& metrics) const;

 private:
  Log& log_;
  std::array<std::uint64_t, 5> counts_{};  // by BlockedFetch::What
  std::string last_run_;                   // whose lines are counted
  std::size_t lines_ = 0;
};

}  // namespace relay::world
