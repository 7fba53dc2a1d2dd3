// relay-cage PLAN: runs one program behind walls. relay starts it and talks to the program through its
// standard streams.
//
// Three processes: this one, which stays outside and looks like the server to relay; process 1 of the new
// namespaces; and the server. Whatever cannot be built ends it with code 125 and one sentence on stderr.
//
// relay-cage --supervise PROGRAM ARG...: no walls, see supervisor.h.
#include <poll.h>
#include <unistd.h>

#include <optional>
#include <string_view>
#include <vector>

#include "cage_init.h"
#include "confine.h"
#include "give_up.h"
#include "identity.h"
#include "private_root.h"
#include "process_limits.h"
#include "sandbox/launch_plan.h"
#include "sandbox/namespaces.h"
#include "supervisor.h"

namespace {

using namespace relay;
using namespace relay::cage;

// A parent that died before it was asked to take us along leaves the report without a reader.
void end_if_alone(const Fd& report) {
  pollfd reader{report.get(), 0, 0};
  if (::poll(&reader, 1, 0) > 0 && (reader.revents & POLLERR)) ::_exit(sandbox::kCageFailed);
}

struct Inside {
  sandbox::CagePlan plan;
  std::optional<sandbox::IdMapping> mapping;
  std::vector<Tree> declared;
};

[[noreturn]] void run_inside(Inside inside, const sandbox::SystemCallFilter& filter, Fd report) {
  const sandbox::CagePlan& plan = inside.plan;
  if (const auto tied = sandbox::die_with_parent(); !tied) give_up(tied.error());
  if (const auto furnished = build_walls(plan, inside.mapping, std::move(inside.declared)); !furnished)
    give_up(furnished.error());
  end_if_alone(report);
  const pid_t server = ::fork();
  if (server < 0) give_up(from_errno(errno, "fork the server"));
  if (server == 0) give_up(become_server(plan, filter));
  if (plan.hosts) ::close(sandbox::kCageSocket);
  if (const auto confined = confine_init(); !confined) give_up(confined.error());
  wait_inside(server, std::move(report), plan.limits.data_bytes);
}

// What has to be done outside: the groups, and as root the mapping of the declared paths.
Result<Inside> prepare(const char* text) {
  Inside inside;
  RELAY_TRY(inside.plan, sandbox::parse_cage_plan(text));
  RELAY_CHECK(sandbox::join_groups(inside.plan.groups));
  RELAY_CHECK(offer_to_oom_killer());
  inside.mapping = choose_mapping(inside.plan);
  if (!inside.mapping) return inside;
  RELAY_TRY(const Fd ids, sandbox::open_mount_mapping(0, inside.mapping->outside));
  RELAY_TRY(inside.declared, take_declared(inside.plan, &ids));
  return inside;
}

Result<void> run(const char* text) {
  RELAY_TRY(Inside inside, prepare(text));
  const sandbox::LaunchPlan walls = sandbox::make_cage_walls();
  RELAY_TRY(const sandbox::SystemCallFilter filter, sandbox::SystemCallFilter::compile(walls.filter));
  RELAY_TRY(FdPair report, open_pipe());
  hold_signals();
  RELAY_TRY(const pid_t init, sandbox::fork_into_namespaces(walls, inside.mapping));
  if (init == 0) {
    report.first.reset();
    run_inside(std::move(inside), filter, std::move(report.second));
  }
  report.second.reset();
  inside.declared.clear();
  if (inside.plan.hosts) ::close(sandbox::kCageSocket);
  wait_outside(init, std::move(report.first));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2 && std::string_view(argv[1]) == sandbox::kSupervise) supervise(argv + 2);
  if (argc != 2) give_up(invalid("usage: relay-cage PLAN, a JSON object; relay starts it"));
  const auto result = run(argv[1]);
  give_up(result ? internal("the cage ended without a word") : result.error());
}
