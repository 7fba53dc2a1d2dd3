#include "confine.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cage_init.h"
#include "process_limits.h"
#include "proxy_port.h"
#include "sandbox/namespaces.h"

namespace relay::cage {

Result<void> build_walls(const sandbox::CagePlan& plan, const std::optional<sandbox::IdMapping>& mapping,
                         std::vector<Tree> declared) {
  constexpr std::string_view kName = "cage";
  if (::sethostname(kName.data(), kName.size()) != 0)
    return fail(from_errno(errno, "wall uts_namespace: name the host"));
  RELAY_CHECK(raise_loopback());
  if (plan.hosts) {
    RELAY_TRY(const std::uint16_t port, give_out_listener(sandbox::kCageSocket));
    set_proxy_variables(port);
  }
  // Paths are taken as the user that relay runs as, which may see them; the rest is made by the cage's own.
  RELAY_TRY(const Parts system, take_system());
  if (mapping) {
    RELAY_CHECK(sandbox::become_user(mapping->inside));
    RELAY_CHECK(sandbox::die_with_parent());
  } else {
    RELAY_TRY(declared, take_declared(plan, nullptr));
  }
  return enter_private_root(plan, system, declared);
}

Result<void> confine_init() {
  RELAY_CHECK(sandbox::drop_capabilities());
  RELAY_CHECK(sandbox::forbid_new_privileges());
  RELAY_CHECK(sandbox::forbid_dumps());
  return sandbox::die_with_parent();
}

namespace {

Result<void> confine_server(const sandbox::CagePlan& plan, const sandbox::SystemCallFilter& filter) {
  if (::setpgid(0, 0) != 0) return fail(from_errno(errno, "prepare the server's process"));
  RELAY_CHECK(limit_process(plan.limits));
  if (::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) != 0)
    return fail(from_errno(errno, "close what is not the server's"));
  RELAY_CHECK(sandbox::drop_capabilities());
  RELAY_CHECK(sandbox::forbid_new_privileges());
  return filter.load();
}

}  // namespace

Error become_server(const sandbox::CagePlan& plan, const sandbox::SystemCallFilter& filter) {
  const std::string directory = plan.directory.empty() ? "/tmp" : plan.directory;
  if (::chdir(directory.c_str()) != 0)
    return from_errno(
        errno, fmt::format("start in {}: it is not inside the cage; declare it as a path to read or write",
                           directory));
  std::vector<char*> argv{const_cast<char*>(plan.program.c_str())};
  for (const std::string& arg : plan.args) argv.push_back(const_cast<char*>(arg.c_str()));
  argv.push_back(nullptr);
  release_signals();
  if (const Result<void> confined = confine_server(plan, filter); !confined) return confined.error();
  ::execvp(plan.program.c_str(), argv.data());
  return from_errno(
      errno,
      fmt::format(
          "run {} inside the cage: if it lies outside of /usr, declare its directory as a path to read",
          plan.program));
}

}  // namespace relay::cage
