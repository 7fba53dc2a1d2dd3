#include "cage_init.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <initializer_list>
#include <optional>

namespace relay::cage {
namespace {

constexpr std::initializer_list<int> kPassedOn = {SIGTERM, SIGINT,  SIGHUP,  SIGQUIT,
                                                  SIGUSR1, SIGUSR2, SIGWINCH};

sigset_t held_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : kPassedOn) ::sigaddset(&set, signal);
  ::sigaddset(&set, SIGCHLD);
  return set;
}

// The pipes are the server's: held here they would stay open after it closed them.
void let_go_of_pipes() {
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int stream : {0, 1, 2})
    if (null >= 0) ::dup2(null, stream);
}

// Reaps all that ended; gives the status of the one that matters.
std::optional<int> reap(pid_t awaited) {
  std::optional<int> found;
  int status = 0;
  for (pid_t pid = 0; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;)
    if (pid == awaited) found = status;
  return found;
}

int wait_and_pass_on(pid_t child) {
  const sigset_t set = held_signals();
  for (;;) {
    const int signal = ::sigwaitinfo(&set, nullptr);
    if (signal < 0) continue;
    if (signal != SIGCHLD)
      ::kill(child, signal);
    else if (const auto status = reap(child))
      return *status;
  }
}

[[noreturn]] void end_like(int status) {
  if (!WIFSIGNALED(status)) ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::signal(WTERMSIG(status), SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::kill(::getpid(), WTERMSIG(status));
  ::_exit(128 + WTERMSIG(status));
}

}  // namespace

void hold_signals() {
  const sigset_t set = held_signals();
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
}

void wait_inside(pid_t server, Fd report) {
  let_go_of_pipes();
  const int status = wait_and_pass_on(server);
  [[maybe_unused]] const ssize_t written = ::write(report.get(), &status, sizeof status);
  ::_exit(0);
}

void wait_outside(pid_t init, Fd report) {
  let_go_of_pipes();
  const int init_status = wait_and_pass_on(init);
  int status = 0;
  // Without a report process 1 itself was ended, or could not build the cage.
  if (::read(report.get(), &status, sizeof status) != sizeof status) status = init_status;
  end_like(status);
}

}  // namespace relay::cage
