#include "cli/doctor.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "base/fd.h"
#include "cli/doctor_network.h"
#include "cli/secret_notes.h"
#include "config/environment.h"
#include "sandbox/cage_plan.h"
#include "sandbox/control_group.h"
#include "world/package_options.h"

namespace relay::cli {
namespace {

namespace fs = std::filesystem;

struct NamespaceProbe {
  const char* name;
  int flag;
};

constexpr std::array kNamespaces = {
    NamespaceProbe{"user namespace", 0},           NamespaceProbe{"mount namespace", CLONE_NEWNS},
    NamespaceProbe{"pid namespace", CLONE_NEWPID}, NamespaceProbe{"network namespace", CLONE_NEWNET},
    NamespaceProbe{"ipc namespace", CLONE_NEWIPC}, NamespaceProbe{"uts namespace", CLONE_NEWUTS},
};

// Tried in a process of its own, because there is no way back.
bool can_unshare(int flag) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(::unshare(CLONE_NEWUSER | flag) == 0 ? 0 : 1);
  int status = 1;
  if (child > 0) ::waitpid(child, &status, 0);
  return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

Finding wall(std::string name, bool stands, std::string advice) {
  return {"kernel", std::move(name), stands ? Health::good : Health::bad, stands ? "" : std::move(advice)};
}

std::string namespace_advice() {
  std::ifstream file("/proc/self/mountinfo");
  if (is_chroot(std::string((std::istreambuf_iterator<char>(file)), {})))
    return "this is a chroot, and the kernel refuses namespaces in one; use a container, or run outside";
  return "the kernel or a security module forbids it; see kernel.unprivileged_userns_clone";
}

void examine_kernel(std::vector<Finding>& out) {
  for (const NamespaceProbe& probe : kNamespaces)
    out.push_back(wall(probe.name, can_unshare(probe.flag), namespace_advice()));
  const bool filters = ::syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, nullptr) == 0 || errno == EFAULT;
  out.push_back(wall("seccomp filters", filters, "the kernel is built without CONFIG_SECCOMP_FILTER"));
  open_how how{.flags = O_PATH, .mode = 0, .resolve = RESOLVE_BENEATH};
  const Fd here(static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, ".", &how, sizeof how)));
  out.push_back(wall("openat2", here.is_open(), "needs Linux 5.6 or newer"));
  const Fd self(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
  out.push_back(wall("pidfd", self.is_open(), "needs Linux 5.3 or newer"));
  const long abi = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  out.push_back({"kernel", "landlock", abi > 0 ? Health::good : Health::optional_missing,
                 abi > 0 ? fmt::format("ABI {}", abi) : "not available; the other walls do not need it"});
}

// A place that the configuration names has to work; one that is only looked for may be missing.
void examine_cgroups(const config::LoadedConfig& loaded, std::vector<Finding>& out) {
  const sandbox::GroupSite site = sandbox::find_group_site(
      loaded.problems.empty() ? config::text_of(loaded.config.executor.cgroup) : "auto");
  if (site.version == sandbox::GroupVersion::none) {
    out.push_back(
        {"kernel", "cgroups", site.required ? Health::bad : Health::optional_missing,
         fmt::format("none: {}; runs and the processes of sandboxed servers are limited by rlimits alone",
                     site.reason)});
    return;
  }
  std::string detail = fmt::format("{}, memory in {}", name_of(site.version), site.memory);
  for (const auto& [what, directory] :
       {std::pair<const char*, const std::string&>{"processes", site.pids}, {"processor time", site.cpu}})
    detail += directory.empty() ? fmt::format("; {} by rlimits alone", what)
                                : fmt::format(", {} in {}", what, directory);
  out.push_back({"kernel", "cgroups", Health::good, std::move(detail)});
}

// Only root needs it: the servers of anybody else keep that user.
void examine_cage_users(std::vector<Finding>& out) {
  if (::geteuid() != 0) return;
  const bool changes = sandbox::changes_user(sandbox::CageUser::unprivileged);
  out.push_back({"kernel", "users for sandboxed servers", changes ? Health::good : Health::optional_missing,
                 changes ? "they run as a user of their own, not as root"
                         : "they keep Relay's user id: this container has no other users"});
}

// A run's bundle needs it; Relay carries one, and PATH may have another.
void examine_esbuild(const config::LoadedConfig& loaded, std::vector<Finding>& out) {
  const auto options = world::package_options(loaded.config);
  const std::string named = options ? options->npm.esbuild : "esbuild";
  const std::string found = named.find('/') != std::string::npos ? named : config::find_in_path(named);
  const bool works = !found.empty() && ::access(found.c_str(), X_OK) == 0;
  out.push_back({"programs", "esbuild", works ? Health::good : Health::optional_missing,
                 works ? found
                       : "run_js cannot use npm packages without it; put esbuild on PATH, or set "
                         "ESBUILD_BINARY_PATH"});
}

void examine_programs(std::vector<Finding>& out) {
  const std::pair<const char*, const char*> wanted[] = {
      {"npm", "run_js cannot install npm dependencies without it"},
      {"pip3", "run_py cannot install Python packages without it"},
  };
  for (const auto& [program, without] : wanted) {
    const std::string found = config::find_in_path(program);
    out.push_back({"programs", program, found.empty() ? Health::optional_missing : Health::good,
                   found.empty() ? without : found});
  }
}

void examine_runtimes(const fs::path& programs, std::vector<Finding>& out) {
  const fs::path zygote = programs / "relay-zygote";
  const bool has_zygote = ::access(zygote.c_str(), X_OK) == 0;
  out.push_back({"runtimes", "relay-zygote", has_zygote ? Health::good : Health::bad,
                 has_zygote ? zygote.string() : "missing beside relay; `make build` makes it"});
  const fs::path runtime = programs.parent_path() / "runtime";
  for (const char* file : {"zygote-js.js", "zygote-py.js"}) {
    const bool there = fs::exists(runtime / file);
    out.push_back({"runtimes", file, there ? Health::good : Health::bad,
                   there ? "" : "missing in " + runtime.string() + "; `make build` makes it"});
  }
}

// One that is not there yet is made at the first start, if the nearest one above it lets us.
void examine_directory(std::string name, const fs::path& wanted, std::vector<Finding>& out) {
  fs::path directory = wanted;
  while (!fs::exists(directory) && directory.has_relative_path()) directory = directory.parent_path();
  const bool writable = ::access(directory.c_str(), W_OK) == 0;
  out.push_back({"state", std::move(name), writable ? Health::good : Health::bad,
                 writable
                     ? wanted.string()
                     : fmt::format("{} is not writable; --state or RELAY_STATE names another state directory",
                                   directory.string())});
}

void examine_state(const config::LoadedConfig& loaded, std::vector<Finding>& out) {
  for (const config::ConfigProblem& problem : loaded.problems)
    out.push_back({"state", problem.where, Health::bad, problem.what});
  if (!loaded.problems.empty()) return;
  out.push_back({"state", "configuration", Health::good,
                 loaded.config.file.empty() ? "embedded defaults" : loaded.config.file.string()});
  examine_directory("state directory", loaded.config.state, out);
  examine_directory("project directory", loaded.config.project, out);
}

void examine_secrets(const config::LoadedConfig& loaded, std::vector<Finding>& out) {
  if (!loaded.problems.empty()) return;
  for (config::ConfigProblem& note : find_unprotected_secrets(loaded.config))
    out.push_back({"secrets", std::move(note.where), Health::optional_missing, std::move(note.what)});
}

}  // namespace

bool is_chroot(std::string_view mountinfo) {
  while (!mountinfo.empty()) {
    const std::size_t end = std::min(mountinfo.find('\n'), mountinfo.size());
    std::istringstream fields(std::string(mountinfo.substr(0, end)));
    std::string field;
    for (int number = 1; number <= 5; ++number) fields >> field;
    if (field == "/") return false;
    mountinfo.remove_prefix(std::min(end + 1, mountinfo.size()));
  }
  return true;
}

std::vector<Finding> examine(const config::LoadedConfig& loaded, Reach reach) {
  std::vector<Finding> findings;
  examine_kernel(findings);
  examine_cgroups(loaded, findings);
  examine_cage_users(findings);
  examine_programs(findings);
  examine_esbuild(loaded, findings);
  examine_runtimes(world::program_directory(), findings);
  examine_certificates(findings);
  if (reach == Reach::tried) examine_registries(findings);
  examine_state(loaded, findings);
  examine_secrets(loaded, findings);
  return findings;
}

bool is_healthy(const std::vector<Finding>& findings) {
  for (const Finding& finding : findings)
    if (finding.health == Health::bad) return false;
  return true;
}

std::string format_findings(const std::vector<Finding>& findings) {
  std::string out;
  std::string group;
  for (const Finding& finding : findings) {
    if (finding.group != group) out += fmt::format("{}{}\n", group.empty() ? "" : "\n", finding.group);
    group = finding.group;
    const char* mark = finding.health == Health::good  ? "ok     "
                       : finding.health == Health::bad ? "MISSING"
                                                       : "-      ";
    out += fmt::format("  {}  {:20} {}\n", mark, finding.name, finding.detail);
  }
  return out;
}

json::value to_json(const std::vector<Finding>& findings) {
  json::array list;
  for (const Finding& finding : findings) {
    const char* health = finding.health == Health::good  ? "ok"
                         : finding.health == Health::bad ? "missing"
                                                         : "optional";
    list.push_back(
        {{"group", finding.group}, {"name", finding.name}, {"health", health}, {"detail", finding.detail}});
  }
  return {{"healthy", is_healthy(findings)}, {"findings", std::move(list)}};
}

}  // namespace relay::cli
