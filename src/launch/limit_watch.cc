#include "launch/limit_watch.h"

#include <signal.h>

#include <fmt/format.h>

namespace relay::launch {

std::string LimitWatch::memory_limit() const {
  return fmt::format("memory limit of {} MB", limits_.memory_bytes / limits::kMiB);
}

std::string LimitWatch::cpu_limit() const {
  return fmt::format("processor time limit of {} s", limits_.cpu_time.count());
}

bool LimitWatch::look() {
  if (!group_) return false;
  const sandbox::GroupEvents now = group_->events();
  if (now.oom_kills > seen_.oom_kills)
    log_->note(
        fmt::format("killed: {} ({} of its processes)", memory_limit(), now.oom_kills - seen_.oom_kills));
  if (seen_.refused_forks == 0 && now.refused_forks > 0)
    log_->note(fmt::format("refused: process limit of {}; it cannot start more", limits_.processes));
  seen_ = now;
  used_all_time_ =
      used_all_time_ || (limits_.cpu_time.count() > 0 && now.cpu_used && *now.cpu_used >= limits_.cpu_time);
  return used_all_time_;
}

// What was seen stays known: a group that is gone has no accounts any more.
bool LimitWatch::remove_group() {
  if (group_ && !group_->remove()) return false;
  group_.reset();
  return true;
}

std::string LimitWatch::explain(const io::ExitStatus& status) const {
  if (used_all_time_ || status.signal == SIGXCPU) return "was killed: " + cpu_limit();
  if (status.signal == SIGXFSZ)
    return fmt::format("was killed: file size limit of {} MB", limits_.file_bytes / limits::kMiB);
  const bool memory_was_full = seen_.oom_kills > 0;
  if (status.signal == SIGKILL && memory_was_full) return "was killed: " + memory_limit();
  std::string text = describe(status);
  if (memory_was_full) text += fmt::format(" after a process of it was killed: {}", memory_limit());
  if (seen_.refused_forks > 0)
    text += fmt::format(" after it reached its process limit of {}", limits_.processes);
  return text;
}

}  // namespace relay::launch
