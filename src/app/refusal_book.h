// RefusalBook: what guests wanted from the network and did not get. Each refusal is a line of the audit log,
// linked to the run that asked, and a count for the metrics page. Loop thread only.
#pragma once

#include <array>
#include <cstdint>

#include "audit/journal.h"
#include "base/log.h"
#include "base/random.h"
#include "fetch/guarded_fetch.h"
#include "metrics/registry.h"

namespace relay::app {

class RefusalBook {
 public:
  RefusalBook(io::Loop loop, audit::Journal& journal, RandomSource& random, Log& log)
      : loop_(std::move(loop)), journal_(journal), random_(random), log_(log) {}

  /// `nth` of this run, from 1. A run that only ever asks for what it may not have is counted to the end, but
  /// does not fill the log.
  void add(const fetch::BlockedFetch& refusal, const authority::Call& run, std::size_t nth);

  /// relay_fetch_refusals_total, by what was refused.
  void measure(metrics::Registry& metrics) const;

 private:
  io::Loop loop_;
  audit::Journal& journal_;
  RandomSource& random_;
  Log& log_;
  std::array<std::uint64_t, 5> counts_{};  // by Refusal::What
};

/// The audit line's call: tool "fetch", what, host and network as arguments, the run as parent. Pure.
authority::Call refused_call(const fetch::BlockedFetch& refusal, const authority::Call& run);

}  // namespace relay::app
