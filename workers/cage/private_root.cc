#include "private_root.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/fd.h"

namespace relay::cage {
namespace {

std::unexpected<Error> wall_failed(std::string_view step) {
  return fail(from_errno(errno, fmt::format("wall private_root: {}", step)));
}

enum class Access { read, write, device };

std::uint64_t attributes(Access access) {
  switch (access) {
    case Access::read: return MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
    case Access::write: return MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
    case Access::device: return MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC;
  }
  return MOUNT_ATTR_RDONLY;
}

Result<void> limit_mount(const Tree& tree, Access access) {
  mount_attr wanted{};
  wanted.attr_set = attributes(access);
  wanted.propagation = MS_PRIVATE;
  if (::syscall(SYS_mount_setattr, tree.mount.get(), "", AT_EMPTY_PATH | AT_RECURSIVE, &wanted,
                sizeof wanted) != 0)
    return wall_failed("restrict " + tree.path);
  return {};
}

Result<Tree> take_tree(const std::string& path, Access access) {
  Tree tree{.path = path,
            .mount = Fd(static_cast<int>(::syscall(SYS_open_tree, AT_FDCWD, path.c_str(),
                                                   OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE)))};
  if (!tree.mount.is_open()) return wall_failed("show " + path);
  RELAY_CHECK(limit_mount(tree, access));
  struct stat status{};
  if (::fstat(tree.mount.get(), &status) != 0) return wall_failed("look at " + path);
  tree.is_directory = S_ISDIR(status.st_mode);
  return tree;
}

Result<void> map_ids(const Tree& tree, Access access, const Fd& mapping) {
  mount_attr wanted{};
  wanted.attr_set = MOUNT_ATTR_IDMAP;
  wanted.userns_fd = static_cast<std::uint64_t>(mapping.get());
  if (::syscall(SYS_mount_setattr, tree.mount.get(), "", AT_EMPTY_PATH | AT_RECURSIVE, &wanted,
                sizeof wanted) == 0)
    return {};
  // Read with what everybody may do: a stronger wall than the mapping, not a weaker one.
  if (access == Access::read) return {};
  return fail(from_errno(
      errno, fmt::format("wall unprivileged_user: {} cannot be written by a user other than root (its "
                         "filesystem has no idmapped mounts): put it on another filesystem, run relay as a "
                         "plain user, or set sandbox.user to \"own\"",
                         tree.path)));
}

bool exists(const std::string& path) {
  return ::access(path.c_str(), F_OK) == 0;
}

constexpr const char* kSystem[] = {"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"};
// Without them programs do not start, know no time zone or trust no certificate. Nothing of it is secret.
constexpr const char* kSettings[] = {
    "/etc/ld.so.cache",     "/etc/ld.so.conf",      "/etc/ld.so.conf.d",  "/etc/alternatives",
    "/etc/ssl/certs",       "/etc/ssl/openssl.cnf", "/etc/pki/tls/certs", "/etc/pki/ca-trust/extracted",
    "/etc/ca-certificates", "/etc/localtime",       "/etc/mime.types",    "/etc/protocols",
    "/etc/services"};
constexpr const char* kDevices[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"};

}  // namespace

Result<Parts> take_system() {
  Parts parts;
  for (const char* path : kSystem) {
    char target[PATH_MAX];
    if (const ssize_t length = ::readlink(path, target, sizeof target); length > 0) {
      parts.links.push_back({path, std::string(target, static_cast<std::size_t>(length))});
    } else if (exists(path)) {
      RELAY_TRY(Tree tree, take_tree(path, Access::read));
      parts.trees.push_back(std::move(tree));
    }
  }
  for (const char* path : kSettings) {
    if (!exists(path)) continue;
    RELAY_TRY(Tree tree, take_tree(path, Access::read));
    parts.trees.push_back(std::move(tree));
  }
  for (const char* path : kDevices) {
    RELAY_TRY(Tree tree, take_tree(path, Access::device));
    parts.trees.push_back(std::move(tree));
  }
  return parts;
}

// A path that may be written is not also shown read-only. Sorted, so that a parent is there before its child.
Result<std::vector<Tree>> take_declared(const sandbox::CagePlan& plan, const Fd* mapping) {
  std::vector<Tree> trees;
  const std::set<std::string> writable(plan.write.begin(), plan.write.end());
  std::set<std::string> all(plan.read.begin(), plan.read.end());
  all.insert(writable.begin(), writable.end());
  for (const std::string& path : all) {
    const Access access = writable.contains(path) ? Access::write : Access::read;
    RELAY_TRY(Tree tree, take_tree(path, access));
    if (mapping) RELAY_CHECK(map_ids(tree, access, *mapping));
    trees.push_back(std::move(tree));
  }
  return trees;
}

namespace {

// ---- The new root.

Result<void> make_directories(const std::string& path) {
  if (path.empty()) return {};
  for (std::size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    const std::string part = path.substr(0, slash);
    if (::mkdir(part.c_str(), 0755) != 0 && errno != EEXIST) return wall_failed("make " + part);
    if (slash == std::string::npos) return {};
  }
}

Result<void> make_file(const std::string& path, std::string_view text) {
  RELAY_CHECK(make_directories(path.substr(0, path.rfind('/'))));
  const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
  if (!file.is_open() || ::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    return wall_failed("write " + path);
  return {};
}

Result<void> put_tree(const Tree& tree) {
  if (!exists(tree.path))
    RELAY_CHECK(tree.is_directory ? make_directories(tree.path) : make_file(tree.path, ""));
  if (::syscall(SYS_move_mount, tree.mount.get(), "", AT_FDCWD, tree.path.c_str(), MOVE_MOUNT_F_EMPTY_PATH) !=
      0)
    return wall_failed("put in place " + tree.path);
  return {};
}

constexpr unsigned long kPlain = MS_NOSUID | MS_NODEV;

Result<void> mount_memory(const std::string& path, const std::string& options) {
  RELAY_CHECK(make_directories(path));
  if (::mount("cage", path.c_str(), "tmpfs", kPlain, options.c_str()) != 0)
    return wall_failed("an empty " + path);
  return {};
}

// ---- What it may write without asking: one tmpfs, so that bytes and files have one limit. Its directories
// are bound to where they are used; the tmpfs itself is then out of sight.

constexpr const char* kScratch = "/.scratch";

Result<void> open_scratch(const sandbox::CagePlan& plan) {
  return mount_memory(kScratch,
                      fmt::format("size={},nr_inodes={},mode=755", plan.scratch_bytes, plan.scratch_files));
}

Result<void> bind_scratch(std::string_view name, const std::string& path, mode_t mode) {
  const std::string source = fmt::format("{}/{}", kScratch, name);
  if (::mkdir(source.c_str(), mode) != 0 || ::chmod(source.c_str(), mode) != 0)
    return wall_failed("make " + source);
  RELAY_CHECK(make_directories(path));
  if (::mount(source.c_str(), path.c_str(), nullptr, MS_BIND, nullptr) != 0)
    return wall_failed("an empty " + path);
  return {};
}

Result<void> close_scratch() {
  if (::umount2(kScratch, MNT_DETACH) != 0 || ::rmdir(kScratch) != 0)
    return wall_failed("put the scratch space out of sight");
  return {};
}

Result<void> make_read_only(const char* path) {
  if (::mount(nullptr, path, nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY | kPlain, nullptr) != 0)
    return wall_failed(fmt::format("make {} read-only", path));
  return {};
}

Result<void> make_settings(const sandbox::CagePlan& plan) {
  const std::string home = plan.home.empty() ? "/tmp" : plan.home;
  RELAY_CHECK(
      make_file("/etc/passwd",
                fmt::format("server:x:{}:{}:server:{}:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n",
                            ::getuid(), ::getgid(), home)));
  RELAY_CHECK(make_file("/etc/group", fmt::format("server:x:{}:\nnogroup:x:65534:\n", ::getgid())));
  RELAY_CHECK(make_file("/etc/hosts", "127.0.0.1 localhost\n::1 localhost\n"));
  RELAY_CHECK(make_file("/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\n"));
  return make_file("/etc/resolv.conf", "");
}

Result<void> make_devices() {
  RELAY_CHECK(mount_memory("/dev", "size=64k,mode=755"));
  RELAY_CHECK(bind_scratch("shm", "/dev/shm", 01777));
  for (const auto& [path, target] : {std::pair{"/dev/fd", "/proc/self/fd"},
                                     {"/dev/stdin", "/proc/self/fd/0"},
                                     {"/dev/stdout", "/proc/self/fd/1"},
                                     {"/dev/stderr", "/proc/self/fd/2"}})
    if (::symlink(target, path) != 0) return wall_failed(path);
  return {};
}

// Made while the old one is still in view: the kernel gives a new /proc only to those who could see a whole
// one before. Read-only, because the files of /proc/sys ask who writes, not what power it holds: the root
// user of the machine is still that in a cage.
Result<void> make_processes() {
  RELAY_CHECK(make_directories("/proc"));
  if (::mount("proc", "/proc", "proc", kPlain | MS_NOEXEC | MS_RDONLY, nullptr) != 0)
    return wall_failed("a /proc of its own (inside a container whose /proc is masked the kernel refuses it)");
  return {};
}

Result<void> change_root() {
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    return wall_failed("make mounts private");
  if (::mount("cage", "/tmp", "tmpfs", kPlain, "size=1m,mode=755") != 0) return wall_failed("mount a tmpfs");
  if (::chdir("/tmp") != 0 || ::mkdir("old", 0700) != 0) return wall_failed("enter it");
  if (::syscall(SYS_pivot_root, ".", "old") != 0 || ::chdir("/") != 0) return wall_failed("pivot_root");
  return {};
}

Result<void> leave_old_root() {
  if (::umount2("/old", MNT_DETACH) != 0 || ::rmdir("/old") != 0)
    return wall_failed("let go of the old root");
  return {};
}

// A home that is declared, or lies in something declared, is the real one.
bool needs_home(const sandbox::CagePlan& plan) {
  const auto covers = [&](const std::string& path) {
    return plan.home == path || plan.home.starts_with(path + "/");
  };
  return !plan.home.empty() && std::ranges::none_of(plan.read, covers) &&
         std::ranges::none_of(plan.write, covers);
}

// ---- Relay's own files, where a declared path holds them.

bool lies_in_declared(const sandbox::CagePlan& plan, const std::string& path) {
  const auto holds = [&](const std::string& declared) { return path.starts_with(declared + "/"); };
  return std::ranges::any_of(plan.read, holds) || std::ranges::any_of(plan.write, holds);
}

// A directory that is a mount point cannot be renamed or removed in here, so nothing else can take its place.
Result<void> pin_ways(const sandbox::CagePlan& plan) {
  std::set<std::string> ways;
  for (const std::string& hidden : plan.hidden)
    for (std::string way = hidden.substr(0, hidden.rfind('/')); lies_in_declared(plan, way);
         way.resize(way.rfind('/')))
      ways.insert(way);
  for (const std::string& way : ways)
    if (::mount(way.c_str(), way.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0)
      return wall_failed("pin " + way);
  return {};
}

Result<void> cover(const std::string& path, const char* empty_file) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0)
    return errno == ENOENT || errno == ENOTDIR ? Result<void>{} : wall_failed("look at " + path);
  if (S_ISDIR(status.st_mode)) {
    if (::mount("cage", path.c_str(), "tmpfs", kPlain | MS_RDONLY, "size=4k,mode=555") != 0)
      return wall_failed("hide " + path);
    return {};
  }
  if (::mount(empty_file, path.c_str(), nullptr, MS_BIND, nullptr) != 0) return wall_failed("hide " + path);
  return make_read_only(path.c_str());
}

Result<void> hide_paths(const sandbox::CagePlan& plan) {
  if (plan.hidden.empty()) return {};
  constexpr const char* kEmpty = "/.empty";
  RELAY_CHECK(pin_ways(plan));
  RELAY_CHECK(make_file(kEmpty, ""));
  for (const std::string& path : plan.hidden) RELAY_CHECK(cover(path, kEmpty));
  if (::unlink(kEmpty) != 0) return wall_failed("hide files");
  return {};
}

}  // namespace

Result<void> enter_private_root(const sandbox::CagePlan& plan, const Parts& system,
                                const std::vector<Tree>& declared) {
  ::umask(022);
  RELAY_CHECK(change_root());
  RELAY_CHECK(make_processes());
  RELAY_CHECK(leave_old_root());
  RELAY_CHECK(make_settings(plan));
  RELAY_CHECK(open_scratch(plan));
  RELAY_CHECK(bind_scratch("tmp", "/tmp", 01777));
  RELAY_CHECK(make_devices());
  for (const Link& link : system.links)
    if (::symlink(link.target.c_str(), link.path.c_str()) != 0) return wall_failed("link " + link.path);
  for (const Tree& tree : system.trees) RELAY_CHECK(put_tree(tree));
  if (needs_home(plan)) RELAY_CHECK(bind_scratch("home", plan.home, 0700));
  RELAY_CHECK(close_scratch());
  for (const Tree& tree : declared) RELAY_CHECK(put_tree(tree));
  RELAY_CHECK(hide_paths(plan));
  RELAY_CHECK(make_directories("/var"));
  if (::symlink("/tmp", "/var/tmp") != 0 && errno != EEXIST) return wall_failed("link /var/tmp");
  RELAY_CHECK(make_read_only("/dev"));
  return make_read_only("/");
}

}  // namespace relay::cage
