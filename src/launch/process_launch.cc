#include "launch/process_launch.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>

namespace relay::launch {
namespace {

std::string home_of(const Environment& environment) {
  const auto home = environment.find("HOME");
  if (home == environment.end() || !sandbox::check({.program = "x", .home = home->second})) return {};
  return home->second;
}

bool is_beneath(std::string_view path, std::string_view directory) {
  return path == directory || (path.starts_with(directory) && path[directory.size()] == '/');
}

// A directory that is not in the cage cannot be started in; a program that did not ask for one starts in the
// cage's own /tmp.
std::string directory_inside(const std::string& directory, const CageSpec& cage) {
  const auto holds_it = [&](const std::string& path) { return is_beneath(directory, path); };
  const bool is_inside = std::ranges::any_of(cage.read, holds_it) ||
                         std::ranges::any_of(cage.write, holds_it) || is_beneath(directory, "/usr");
  return is_inside ? directory : std::string();
}

// A name comes from the configuration; a directory of it must be one directory.
std::string group_name(std::string_view name) {
  std::string safe = "cage.";
  for (const char c : name)
    safe += std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' ? c : '_';
  return safe;
}

// The level that stands is decided here: the group, or rlimits alone and why.
Result<void> make_group(const LaunchParts& parts, std::string_view name, Launch& launch) {
  const sandbox::GroupSite site =
      parts.find_group_site ? parts.find_group_site() : sandbox::GroupSite{.reason = "none was looked for"};
  Result<sandbox::ControlGroup> group =
      sandbox::ControlGroup::make(site, group_name(name),
                                  {.processes = launch.limits.processes + limits::kCageOwnProcesses,
                                   .memory_bytes = launch.limits.memory_bytes,
                                   .cpu_percent = launch.limits.cpu_percent});
  if (!group && site.required) return fail(std::move(group.error()));
  if (group) launch.group.emplace(std::move(*group));
  launch.standing = sandbox::make_standing(launch.group ? &*launch.group : nullptr,
                                           launch.group          ? std::string()
                                           : site.reason.empty() ? group.error().message
                                                                 : site.reason);
  return {};
}

}  // namespace

sandbox::CagePlan make_cage_plan(const LaunchCommand& command, const CageSpec& cage,
                                 const sandbox::CageStanding& standing, std::vector<std::string> groups) {
  return {.program = command.program,
          .args = command.args,
          .directory = directory_inside(command.directory, cage),
          .read = cage.read,
          .write = cage.write,
          .home = home_of(command.environment),
          .hosts = !cage.hosts.empty(),
          .hidden = cage.hidden,
          .user = cage.user,
          .groups = std::move(groups),
          .limits = sandbox::make_process_limits(cage.limits, standing),
          .scratch_bytes = cage.limits.scratch_bytes,
          .scratch_files = cage.limits.scratch_files};
}

Result<Launch> make_caged_launch(const LaunchParts& parts, std::string_view name,
                                 const LaunchCommand& command, const CageSpec& cage,
                                 const std::shared_ptr<ServerLog>& log) {
  if (parts.cage_program.empty())
    return fail(invalid("its sandbox needs the program relay-cage, which was not found beside relay"));
  if (!cage.refusal.empty()) return fail(invalid(cage.refusal));
  RELAY_CHECK(sandbox::check(make_cage_plan(command, cage, {}, {})));
  Launch launch;
  launch.limits = cage.limits;
  RELAY_CHECK(make_group(parts, name, launch));
  const sandbox::CagePlan plan =
      make_cage_plan(command, cage, *launch.standing,
                     launch.group ? launch.group->directories() : std::vector<std::string>());
  launch.child.program = parts.cage_program.string();
  launch.child.args = {json::write(to_json(plan))};
  launch.child.environment = command.environment;
  if (plan.hosts) {
    RELAY_TRY(launch.proxy, CageProxy::make(parts.executor, cage, log));
    launch.child.fds[sandbox::kCageSocket] = launch.proxy->cage_socket();
  }
  log->note(sandbox::describe(launch.limits, *launch.standing));
  if (::geteuid() == 0 && !sandbox::changes_user(cage.user))
    log->note(
        cage.user == sandbox::CageUser::own
            ? "weaker level: its processes are root outside of the cage, as sandbox.user \"own\" asks"
            : "weaker level: its processes have relay's own user id outside of the cage, because relay is "
              "root of a container that has no other users");
  return launch;
}

Result<Launch> make_supervised_launch(const LaunchParts& parts, const LaunchCommand& command) {
  Launch launch;
  launch.child.program = command.program;
  launch.child.args = command.args;
  launch.child.environment = command.environment;
  launch.child.directory = command.directory;
  if (parts.cage_program.empty()) return launch;
  // A missing program is said here and not by the supervisor, whose exit code would be all there is.
  RELAY_CHECK(io::find_program(launch.child));
  launch.child.program = parts.cage_program.string();
  launch.child.args.insert(launch.child.args.begin(), {sandbox::kSupervise, command.program});
  launch.child.end_signal = sandbox::end_signal();
  return launch;
}

}  // namespace relay::launch
