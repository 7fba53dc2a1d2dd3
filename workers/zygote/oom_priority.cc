#include "oom_priority.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace relay::zygote {

constexpr std::string_view kFirst =
    "1000";  // the kernel's own maximum; anybody may raise it, and go back to where it was

Result<OomPriority> OomPriority::open() {
  Fd entry(::open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC));
  char before[16] = {};
  if (!entry.is_open() || ::pread(entry.get(), before, sizeof before - 1, 0) <= 0)
    return fail(from_errno(errno, "open /proc/self/oom_score_adj"));
  return OomPriority(std::move(entry), before);
}

// The file opens for us alone and takes any of these: a failure means only that the kernel chooses by size.
void OomPriority::write(std::string_view score) const {
  [[maybe_unused]] const ssize_t ignored = ::pwrite(entry_.get(), score.data(), score.size(), 0);
}

void OomPriority::children_first() const {
  write(kFirst);
}

void OomPriority::as_before() const {
  write(before_);
}

}  // namespace relay::zygote
