// What is told of each call that ended: the metrics and, at the level debug, the log. Loop thread only.
#pragma once

#include <string>

#include "base/log.h"
#include "metrics/registry.h"
#include "pipeline/pipeline.h"

namespace relay::world {

class CallCounter final : public pipeline::CallObserver {
 public:
  /// `mode` is the policy's, a label of the counters. The registry outlives it.
  CallCounter(metrics::Registry& metrics, policy::PolicyMode mode)
      : metrics_(metrics), mode_(policy::name(mode)) {}
  void set_mode(policy::PolicyMode mode) { mode_ = policy::name(mode); }
  void call_ended(const authority::Call& call, authority::Tier tier, authority::Ending ending,
                  std::chrono::nanoseconds took) override;

 private:
  metrics::Registry& metrics_;
  std::string mode_;
};

class CallLog final : public pipeline::CallObserver {
 public:
  /// The log outlives it.
  explicit CallLog(Log& log) : log_(log) {}
  void call_ended(const authority::Call& call, authority::Tier tier, authority::Ending ending,
                  std::chrono::nanoseconds took) override;

 private:
  Log& log_;
};

}  // namespace relay::world
