// LimitWatch: which limits of its cage a process ran into, in words. It reads what the kernel counted in the
// control group, notes what is new in the log, and explains an end.
//
// Owned by the process it watches; loop thread only. Without a group it knows what a signal tells: SIGXCPU
// and SIGXFSZ are sent by nothing else.
#pragma once

#include <optional>
#include <string>

#include "io/child.h"
#include "launch/server_log.h"
#include "sandbox/cage_limits.h"

namespace relay::launch {

class LimitWatch {
 public:
  LimitWatch(sandbox::CageLimits limits, std::optional<sandbox::ControlGroup> group,
             std::shared_ptr<ServerLog> log)
      : limits_(limits), group_(std::move(group)), log_(std::move(log)) {}

  /// Looks once. True: it has used all of its processor time and has to be ended.
  bool look();
  /// "was killed: memory limit of 2048 MB"; without a limit in it, how it ended.
  [[nodiscard]] std::string explain(const io::ExitStatus& status) const;
  [[nodiscard]] bool has_group() const { return group_.has_value(); }
  /// Once no process is left: true when the group is gone, or there is none.
  bool remove_group();

 private:
  [[nodiscard]] std::string memory_limit() const;
  [[nodiscard]] std::string cpu_limit() const;

  sandbox::CageLimits limits_;
  std::optional<sandbox::ControlGroup> group_;
  std::shared_ptr<ServerLog> log_;
  sandbox::GroupEvents seen_;
  bool used_all_time_ = false;
};

}  // namespace relay::launch
