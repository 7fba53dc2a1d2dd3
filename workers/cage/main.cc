// relay-cage PLAN: runs one upstream server behind walls. relay starts it and talks to the server through its
// standard streams.
//
// Three processes: this one, which stays outside and looks like the server to relay; process 1 of the new
// namespaces; and the server. Whatever cannot be built ends it with code 125 and one sentence on stderr.
#include <unistd.h>

#include <cstdio>
#include <string>

#include "cage_init.h"
#include "confine.h"
#include "sandbox/launch_plan.h"
#include "sandbox/namespaces.h"

namespace {

using namespace relay;
using namespace relay::cage;

[[noreturn]] void give_up(const Error& error) {
  const std::string text = "relay-cage: " + error.message + "\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
  ::_exit(sandbox::kCageFailed);
}

[[noreturn]] void run_inside(const sandbox::CagePlan& plan, const sandbox::SystemCallFilter& filter,
                             Fd report) {
  if (const auto tied = sandbox::die_with_parent(); !tied) give_up(tied.error());
  if (const auto furnished = restore_state(plan); !furnished) give_up(furnished.error());
  const pid_t server = ::fork();
  if (server < 0) give_up(from_errno(errno, "fork the server"));
  if (server == 0) give_up(become_server(plan, filter));
  if (plan.hosts) ::close(sandbox::kCageSocket);
  if (const auto confined = confine_init(); !confined) give_up(confined.error());
  wait_inside(server, std::move(report));
}

Result<void> run(const char* text) {
  RELAY_TRY(const sandbox::CagePlan plan, sandbox::parse_cage_plan(text));
  const sandbox::LaunchPlan walls = sandbox::make_cage_walls();
  RELAY_TRY(const sandbox::SystemCallFilter filter, sandbox::SystemCallFilter::compile(walls.filter));
  RELAY_TRY(FdPair report, open_pipe());
  hold_signals();
  RELAY_TRY(const pid_t init, sandbox::fork_into_namespaces(walls));
  if (init == 0) {
    report.first.reset();
    run_inside(plan, filter, std::move(report.second));
  }
  report.second.reset();
  if (plan.hosts) ::close(sandbox::kCageSocket);
  wait_outside(init, std::move(report.first));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) give_up(invalid("usage: relay-cage PLAN, a JSON object; relay starts it"));
  const auto result = run(argv[1]);
  give_up(result ? internal("the cage ended without a word") : result.error());
}
