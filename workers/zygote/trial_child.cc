#include "trial_child.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "base/fd.h"

namespace relay::zygote {
namespace {

// The child tells what /proc calls it, which its pid namespace hides from us, and stays until it is killed.
// It does nothing besides: a list made here would be among the pages that are looked at.
[[noreturn]] void stay_as_trial(const std::function<Result<void>()>& trial, int pipe) {
  char name[32];
  if (!trial()) ::_exit(1);
  const ssize_t length = ::readlink("/proc/self", name, sizeof name);
  if (length <= 0 || ::write(pipe, name, static_cast<std::size_t>(length)) != length) ::_exit(1);
  for (;;) ::pause();
}

void end_trial(pid_t pid) {
  ::kill(pid, SIGKILL);
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace

Result<void> watch_trial(const std::function<Result<void>()>& trial,
                         const std::function<Result<void>(const std::string& process)>& look) {
  RELAY_TRY(FdPair pipe, open_pipe());
  const pid_t pid = ::fork();
  if (pid < 0) return fail(from_errno(errno, "fork a trial child"));
  if (pid == 0) stay_as_trial(trial, pipe.second.get());
  pipe.second.reset();
  char name[32];
  const ssize_t length = ::read(pipe.first.get(), name, sizeof name);
  const Result<void> looked = length > 0 ? look(std::string(name, static_cast<std::size_t>(length)))
                                         : fail(internal("the trial run failed: no run would work"));
  end_trial(pid);
  return looked;
}

}  // namespace relay::zygote
