#include "supervisor.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <fstream>
#include <optional>
#include <thread>

#include <fmt/format.h>

#include "cage_init.h"
#include "give_up.h"
#include "sandbox/cage_limits.h"
#include "sandbox/cage_plan.h"
#include "sandbox/namespaces.h"

namespace relay::cage {
namespace {

[[noreturn]] void become_server(char** argv, pid_t supervisor) {
  if (const auto tied = sandbox::die_with_parent(); !tied) give_up(tied.error());
  if (::getppid() != supervisor) ::_exit(sandbox::kCageFailed);
  if (::setpgid(0, 0) != 0) give_up(from_errno(errno, "make a process group"));
  release_signals();
  ::execvp(argv[0], argv);
  give_up(from_errno(errno, fmt::format("run {}", argv[0])));
}

// Those that the kernel says are ours now: an orphan is, once its parent is dead.
void kill_children() {
  std::ifstream children(fmt::format("/proc/self/task/{}/children", ::getpid()));
  for (pid_t pid = 0; children >> pid;) ::kill(pid, SIGKILL);
}

void end_descendants() {
  const auto deadline = std::chrono::steady_clock::now() + limits::kSupervisorEnd;
  do {
    kill_children();
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    if (::waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  } while (std::chrono::steady_clock::now() < deadline);
}

}  // namespace

void supervise(char** argv) {
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0)
    give_up(from_errno(errno, "adopt what the server leaves behind"));
  hold_signals();
  const pid_t self = ::getpid();
  const pid_t server = ::fork();
  if (server < 0) give_up(from_errno(errno, "fork the server"));
  if (server == 0) become_server(argv, self);
  ::setpgid(server, server);  // whoever is first: a signal to the group must not come before it exists
  let_go_of_pipes(Streams::all);
  const int status = wait_and_pass_on(server, Recipient::group);
  end_descendants();
  end_like(status);
}

}  // namespace relay::cage
