#include "sandbox/namespaces.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <fstream>
#include <string>

#include <fmt/format.h>

#include "base/fd.h"

namespace relay::sandbox {
namespace {

std::unexpected<Error> wall_failed(Wall wall, std::string_view step) {
  return fail(from_errno(errno, fmt::format("wall {}: {}", name_of(wall), step)));
}

unsigned long clone_flags(const LaunchPlan& plan) {
  unsigned long flags = 0;
  if (has(plan, Wall::user_namespace)) flags |= CLONE_NEWUSER;
  if (has(plan, Wall::pid_namespace)) flags |= CLONE_NEWPID;
  if (has(plan, Wall::mount_namespace)) flags |= CLONE_NEWNS;
  if (has(plan, Wall::network_namespace)) flags |= CLONE_NEWNET;
  if (has(plan, Wall::ipc_namespace)) flags |= CLONE_NEWIPC;
  if (has(plan, Wall::uts_namespace)) flags |= CLONE_NEWUTS;
  return flags;
}

Result<void> write_proc(pid_t pid, std::string_view name, const std::string& text) {
  const std::string path = fmt::format("/proc/{}/{}", pid, name);
  const Fd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file.is_open() || ::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    return wall_failed(Wall::user_namespace, "write " + path);
  return {};
}

// A user may map only itself, and gets no say over groups.
Result<void> map_one_id(pid_t pid, unsigned user_inside, unsigned group_inside) {
  RELAY_CHECK(write_proc(pid, "setgroups", "deny"));
  RELAY_CHECK(write_proc(pid, "uid_map", fmt::format("{} {} 1\n", user_inside, ::geteuid())));
  return write_proc(pid, "gid_map", fmt::format("{} {} 1\n", group_inside, ::getegid()));
}

// A plan that ends as nobody needs two ids as root: root, to read the runtime's files while booting, and
// nobody, to become afterwards. One that does not keeps the user's own id, and with it the user's own files.
Result<void> map_ids(pid_t pid, const LaunchPlan& plan) {
  if (!has(plan, Wall::unprivileged_user)) return map_one_id(pid, ::geteuid(), ::getegid());
  if (::geteuid() == 0) {
    const std::string map = fmt::format("0 0 1\n{0} {0} 1\n", kNobody);
    RELAY_CHECK(write_proc(pid, "uid_map", map));
    return write_proc(pid, "gid_map", map);
  }
  return map_one_id(pid, kNobody, kNobody);
}

Result<void> map_foreign_id(pid_t pid, const IdMapping& mapping) {
  const std::string map = fmt::format("{} {} 1\n", mapping.inside, mapping.outside);
  RELAY_CHECK(write_proc(pid, "uid_map", map));
  return write_proc(pid, "gid_map", map);
}

void end_child(pid_t pid) {
  ::kill(pid, SIGKILL);
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace

bool maps_user(unsigned id) {
  std::ifstream map("/proc/self/uid_map");
  for (std::uint64_t inside = 0, outside = 0, count = 0; map >> inside >> outside >> count;)
    if (id >= inside && id - inside < count) return true;
  return false;
}

Result<pid_t> fork_into_namespaces(const LaunchPlan& plan, std::optional<IdMapping> mapping) {
  RELAY_TRY(FdPair mapped, open_pipe());
  const unsigned long flags = clone_flags(plan);
  const auto pid = static_cast<pid_t>(::syscall(SYS_clone, flags | SIGCHLD, nullptr, nullptr, nullptr, 0));
  if (pid < 0)
    return fail(
        from_errno(errno,
                   "wall user_namespace: the kernel refuses new namespaces (see user.max_user_namespaces, "
                   "kernel.unprivileged_userns_clone and AppArmor; walls \"reduced\" does without)"));
  char go = 0;
  if (pid == 0) {
    mapped.second.reset();
    if (::read(mapped.first.get(), &go, 1) != 1)
      ::_exit(1);  // the parent could not map the ids, and says so itself
    return 0;
  }
  if (flags & CLONE_NEWUSER) {
    if (Result<void> result = mapping ? map_foreign_id(pid, *mapping) : map_ids(pid, plan); !result) {
      end_child(pid);
      return fail(std::move(result.error()));
    }
  }
  if (::write(mapped.second.get(), &go, 1) != 1) return fail(from_errno(errno, "wake the worker"));
  return pid;
}

Result<void> enter_empty_root() {
  constexpr Wall kWall = Wall::empty_root;
  constexpr unsigned long kLocked = MS_NOSUID | MS_NODEV | MS_NOEXEC;
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    return wall_failed(kWall, "make mounts private");
  if (::mount("empty", "/tmp", "tmpfs", kLocked, "size=4k,nr_inodes=2,mode=555") != 0)
    return wall_failed(kWall, "mount a tmpfs");
  if (::chdir("/tmp") != 0) return wall_failed(kWall, "enter it");
  if (::syscall(SYS_pivot_root, ".", ".") != 0) return wall_failed(kWall, "pivot_root");
  if (::umount2(".", MNT_DETACH) != 0) return wall_failed(kWall, "let go of the old root");
  if (::chdir("/") != 0) return wall_failed(kWall, "enter the new root");
  if (::mount(nullptr, "/", nullptr, MS_REMOUNT | MS_RDONLY | kLocked, nullptr) != 0)
    return wall_failed(kWall, "make it read-only");
  return {};
}

// The namespace lives in the descriptor; the process that it was made for is not needed any more.
Result<Fd> open_mount_mapping(unsigned owner, unsigned outside) {
  constexpr unsigned kLast = 4294967294;  // the highest id there is
  if (owner >= outside || outside >= kLast) return fail(internal("a mount maps an id to a higher one"));
  const auto pid =
      static_cast<pid_t>(::syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, nullptr, nullptr, nullptr, 0));
  if (pid < 0) return wall_failed(Wall::unprivileged_user, "make a user namespace for the declared paths");
  if (pid == 0)
    for (;;) ::pause();
  std::string map = fmt::format("{} {} 1\n", owner, outside);
  if (owner > 0) map += fmt::format("0 0 {}\n", owner);
  if (outside - owner > 1) map += fmt::format("{0} {0} {1}\n", owner + 1, outside - owner - 1);
  map += fmt::format("{0} {0} {1}\n", outside + 1, kLast - outside);
  Result<void> mapped = write_proc(pid, "uid_map", map);
  if (mapped) mapped = write_proc(pid, "gid_map", map);
  Fd space(::open(fmt::format("/proc/{}/ns/user", pid).c_str(), O_RDONLY | O_CLOEXEC));
  const int error = errno;
  end_child(pid);
  if (!mapped) return fail(std::move(mapped.error()));
  if (!space.is_open())
    return fail(from_errno(error, "wall unprivileged_user: open the user namespace of the declared paths"));
  return space;
}

Result<void> become_user(unsigned inside) {
  constexpr Wall kWall = Wall::unprivileged_user;
  // Where groups may not be set, only the one mapped group is left anyway.
  if (::setgroups(0, nullptr) != 0 && errno != EPERM) return wall_failed(kWall, "leave all groups");
  if (::setresgid(inside, inside, inside) != 0) return wall_failed(kWall, "change the group");
  // Capabilities are dropped by name later; this keeps them until then when the id changes.
  if (::prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) != 0) return wall_failed(kWall, "keep capabilities");
  if (::setresuid(inside, inside, inside) != 0) return wall_failed(kWall, "change the user");
  return {};
}

Result<void> become_nobody() {
  return become_user(kNobody);
}

namespace {

Result<void> set_capabilities(const __user_cap_data_struct (&sets)[2]) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  if (::syscall(SYS_capset, &header, sets) != 0)
    return wall_failed(Wall::no_capabilities, "set the capability sets");
  return {};
}

// The bounding set can be emptied only by a process that may; a process without privileges has nothing to
// lose there, because no_new_privs keeps it from gaining what the set would allow.
Result<void> empty_bounding_set() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[2] = {};
  if (::syscall(SYS_capget, &header, sets) != 0)
    return wall_failed(Wall::no_capabilities, "read the capability sets");
  if (!(sets[0].permitted & (1U << CAP_SETPCAP))) return {};
  sets[0].effective = sets[0].permitted;
  sets[1].effective = sets[1].permitted;
  RELAY_CHECK(set_capabilities(sets));
  for (int capability = 0; ::prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; ++capability)
    if (::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0)
      return wall_failed(Wall::no_capabilities, "empty the bounding set");
  constexpr int kBits = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
                        SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED |
                        SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;
  if (::prctl(PR_SET_SECUREBITS, kBits, 0, 0, 0) != 0)
    return wall_failed(Wall::no_capabilities, "lock the secure bits");
  return {};
}

}  // namespace

Result<void> drop_capabilities() {
  if (::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0)
    return wall_failed(Wall::no_capabilities, "clear the ambient set");
  RELAY_CHECK(empty_bounding_set());
  return set_capabilities({});
}

Result<void> forbid_new_privileges() {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return wall_failed(Wall::no_new_privileges, "prctl");
  return {};
}

Result<void> forbid_dumps() {
  if (::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return wall_failed(Wall::undumpable, "prctl");
  return {};
}

Result<void> die_with_parent() {
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0)
    return fail(from_errno(errno, "ask to die with the parent"));
  return {};
}

}  // namespace relay::sandbox
