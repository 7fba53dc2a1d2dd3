#include "cage_init.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <initializer_list>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "memory_sum.h"
#include "sandbox/cage_limits.h"
#include "sandbox/cage_plan.h"

namespace relay::cage {
namespace {

constexpr std::initializer_list<int> kPassedOn = {SIGTERM, SIGINT,  SIGHUP,  SIGQUIT,
                                                  SIGUSR1, SIGUSR2, SIGWINCH};

sigset_t held_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : kPassedOn) ::sigaddset(&set, signal);
  ::sigaddset(&set, SIGCHLD);
  ::sigaddset(&set, sandbox::end_signal());
  return set;
}

// Reaps all that ended; gives the status of the one that matters.
std::optional<int> reap(pid_t awaited) {
  std::optional<int> found;
  int status = 0;
  for (pid_t pid = 0; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;)
    if (pid == awaited) found = status;
  return found;
}

}  // namespace

int wait_and_pass_on(pid_t child, Recipient recipient, const std::function<void()>& meanwhile) {
  const sigset_t set = held_signals();
  const timespec pause{0, std::chrono::nanoseconds(limits::kCageMemoryWatch).count()};
  for (;;) {
    const int signal = meanwhile ? ::sigtimedwait(&set, nullptr, &pause) : ::sigwaitinfo(&set, nullptr);
    if (signal < 0 && errno == EAGAIN) meanwhile();
    if (signal < 0) continue;
    if (signal == sandbox::end_signal()) return SIGKILL;
    if (signal != SIGCHLD)
      ::kill(recipient == Recipient::group ? -child : child, signal);
    else if (const auto status = reap(child))
      return *status;
  }
}

void end_like(int status) {
  if (!WIFSIGNALED(status)) ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::signal(WTERMSIG(status), SIG_DFL);
  release_signals();
  ::kill(::getpid(), WTERMSIG(status));
  ::_exit(128 + WTERMSIG(status));
}

void hold_signals() {
  const sigset_t set = held_signals();
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
}

void release_signals() {
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

void let_go_of_pipes(Streams streams) {
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int stream : {0, 1, 2})
    if (null >= 0 && (stream != STDERR_FILENO || streams == Streams::all)) ::dup2(null, stream);
}

namespace {

/// What process 1 tells the process outside.
struct Ending {
  int status = 0;
  std::size_t memory_limit_bytes = 0;  // not 0: it was full, and everything was killed
};

}  // namespace

void wait_inside(pid_t server, Fd report, std::size_t memory_bytes_max) {
  let_go_of_pipes(Streams::all);
  Ending ending;
  std::function<void()> look;
  if (memory_bytes_max != 0)
    look = [&] {
      if (memory_in_use() <= memory_bytes_max) return;
      ending.memory_limit_bytes = memory_bytes_max;
      ::kill(-1, SIGKILL);
    };
  ending.status = wait_and_pass_on(server, Recipient::process, look);
  [[maybe_unused]] const ssize_t written = ::write(report.get(), &ending, sizeof ending);
  ::_exit(0);
}

void wait_outside(pid_t init, Fd report) {
  let_go_of_pipes(Streams::input_and_output);
  Ending ending;
  const int init_status = wait_and_pass_on(init, Recipient::process);
  // Without a report process 1 itself was ended, or could not build the cage.
  if (::read(report.get(), &ending, sizeof ending) != sizeof ending) ending.status = init_status;
  if (ending.memory_limit_bytes != 0) {
    const std::string text = fmt::format("relay-cage: was killed: memory limit of {} MB\n",
                                         ending.memory_limit_bytes / limits::kMiB);
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
  }
  end_like(ending.status);
}

}  // namespace relay::cage
