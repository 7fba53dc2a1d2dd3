#include "vfs/workspace.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "base/digest.h"
#include "vfs/deep_walk.h"

namespace relay::vfs {
namespace {

constexpr std::string_view kSessionPrefix = "session-";
// Memory and saved tools are small. Each client has its own, so a workspace's whole quota would be too much.
constexpr Usage kStateQuota{16 * limits::kMiB, 1000};
constexpr const char* kAreas[] = {"tmp", "out", "state"};

Result<void> make_directories(const std::string& path) {
  std::error_code failure;
  std::filesystem::create_directories(path, failure);
  if (failure) return relay::fail(from_errno(failure.value(), path));
  return {};
}

std::optional<Usage> measure(const std::string& directory, const std::stop_token& stop) {
  Usage usage;
  const auto dir = ConfinedDir::open(directory);
  if (!dir) return std::nullopt;
  for (const char* area : kAreas) {
    auto fd = dir->open_dir(area);
    if (!fd && fd.error().number == ENOENT) continue;
    if (!fd || add_usage(std::move(*fd), usage, stop) != WalkEnd::complete) return std::nullopt;
  }
  return usage;
}

// std::filesystem::remove_all holds a descriptor for every level and fails where a guest has nested deeper.
bool remove_workspace(const std::string& directory) {
  Fd fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd.is_open()) return errno == ENOENT;
  (void)remove_beneath(std::move(fd));
  return ::rmdir(directory.c_str()) == 0;
}

// Guests write here, so links that they could plant are never followed.
Result<std::shared_ptr<Mount>> open_area(const std::string& workspace, const char* area,
                                         const std::shared_ptr<Quota>& quota,
                                         std::shared_ptr<const HiddenFiles> hidden) {
  const std::string path = workspace + "/" + area;
  RELAY_CHECK(make_directories(path));
  return Mount::open({area, path, MountMode::rw, {}, {}, Symlinks::forbid, std::move(hidden)}, quota);
}

Error two_mounts(std::string_view name) {
  return invalid(fmt::format("two mounts are named '{}'; give one another name", name));
}

Result<void> check_names(const std::vector<MountSpec>& mounts) {
  std::set<std::string_view> names;
  for (const MountSpec& mount : mounts) {
    if (!names.insert(mount.name).second) return relay::fail(two_mounts(mount.name));
  }
  return {};
}

// A mount inside of what is hidden would show it by another door.
Result<void> check_root(const Mount& mount) {
  if (!mount.dir().hidden()) return {};
  const auto root = mount.dir().open_at("", O_PATH | O_DIRECTORY);
  if (root && !mount.dir().hidden()->holds(*root)) return {};
  return relay::fail(
      invalid(fmt::format("mount '{}': {} lies where Relay keeps its own files; mount another directory",
                          mount.spec().name, mount.spec().host_path)));
}

}  // namespace

Result<std::unique_ptr<Trees>> Trees::open(TreeSpec spec, std::shared_ptr<SyntheticDir> mcps) {
  RELAY_CHECK(check_names(spec.mounts));
  std::unique_ptr<Trees> trees(new Trees(std::move(spec)));
  trees->mcps_ = std::move(mcps);
  for (MountSpec& mount : trees->spec_.mounts) {
    mount.hidden = trees->spec_.hidden;
    RELAY_TRY(auto opened, trees->open_mount(mount));
    trees->host_.push_back(std::move(opened));
  }
  RELAY_CHECK(make_directories(trees->spec_.workspace_dir));
  trees->remove_old_sessions();
  return trees;
}

// A mount that is open already and did not change is used as it is.
Result<std::shared_ptr<Mount>> Trees::open_mount(const MountSpec& mount) const {
  for (const std::shared_ptr<Mount>& open : host_)
    if (open->spec() == mount) return open;
  RELAY_TRY(auto opened, Mount::open(mount));
  RELAY_CHECK(check_root(*opened));
  return opened;
}

std::vector<Error> Trees::change(std::vector<MountSpec> mounts,
                                 std::optional<policy::FilesystemPolicy> policy) {
  std::vector<Error> problems;
  std::vector<MountSpec> kept;
  std::vector<std::shared_ptr<Mount>> host;
  for (MountSpec& mount : mounts) {
    mount.hidden = spec_.hidden;
    const bool is_twice = std::ranges::find(kept, mount.name, &MountSpec::name) != kept.end();
    auto opened = is_twice ? relay::fail(two_mounts(mount.name)) : open_mount(mount);
    if (!opened) {
      problems.push_back(std::move(opened.error()));
      continue;
    }
    host.push_back(*std::move(opened));
    kept.push_back(std::move(mount));
  }
  const std::lock_guard lock(mutex_);
  host_ = std::move(host);
  spec_.mounts = std::move(kept);
  spec_.policy = std::move(policy);
  for (auto& [name, tree] : trees_) {
    TreeParts parts = tree->parts();
    parts.host = host_;
    tree = tree_from(std::move(parts));
  }
  return problems;
}

std::shared_ptr<Tree> Trees::tree_from(TreeParts parts) const {
  const Tree tree(std::move(parts));
  return std::make_shared<Tree>(spec_.policy ? tree.narrowed(*spec_.policy) : tree);
}

// Directories of clients that cannot come back are named after the process that made them. Those of a process
// that is gone are what a crash left.
void Trees::remove_old_sessions() const {
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(spec_.workspace_dir, failure)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kSessionPrefix)) continue;
    const int pid = std::atoi(name.c_str() + kSessionPrefix.size());
    const bool lives = pid > 0 && pid != ::getpid() && (::kill(pid, 0) == 0 || errno == EPERM);
    if (!lives) remove_workspace(entry.path().string());
  }
}

// The directory of what is the holder's alone; empty for a holder that nothing tells from others.
std::string Trees::own_name(const Holder& holder) const {
  if (holder.empty()) return {};
  const std::string hash = sha256_hex(holder.text).substr(0, 32);
  return holder.is_lasting ? "client-" + hash : fmt::format("{}{}-{}", kSessionPrefix, ::getpid(), hash);
}

std::string Trees::workspace_name(const Holder& holder) const {
  return spec_.workspace == WorkspaceKind::shared ? "shared" : own_name(holder);
}

std::shared_ptr<Quota> Trees::quota_of(const std::string& directory, const Usage& quota) const {
  return std::make_shared<Quota>(quota,
                                 [directory, stop = stop_.get_token()] { return measure(directory, stop); });
}

Result<void> Trees::add_areas(const std::string& workspace, const std::shared_ptr<Quota>& quota,
                              TreeParts& parts) {
  RELAY_TRY(parts.tmp, open_area(workspace, "tmp", quota, spec_.hidden));
  RELAY_TRY(parts.out, open_area(workspace, "out", quota, spec_.hidden));
  return {};
}

Result<std::shared_ptr<Tree>> Trees::make_tree(const Holder& holder) {
  TreeParts parts{host_, nullptr, nullptr, nullptr, mcps_};
  const std::string name = own_name(holder);
  if (!name.empty()) {
    const std::string directory = spec_.workspace_dir + "/" + name;
    const bool is_shared = spec_.workspace == WorkspaceKind::shared;
    const std::shared_ptr<Quota> quota = quota_of(directory, is_shared ? kStateQuota : spec_.workspace_quota);
    parts.state = std::make_shared<LazyMount>([this, name, directory, quota] {
      const std::lock_guard lock(mutex_);
      made_.insert(name);
      return open_area(directory, "state", quota, spec_.hidden);
    });
    if (spec_.workspace == WorkspaceKind::session) {
      made_.insert(name);
      RELAY_CHECK(add_areas(directory, quota, parts));
    }
  }
  if (spec_.workspace == WorkspaceKind::shared) {
    const std::string directory = spec_.workspace_dir + "/shared";
    if (!shared_.tmp) RELAY_CHECK(add_areas(directory, quota_of(directory, spec_.workspace_quota), shared_));
    parts.tmp = shared_.tmp;
    parts.out = shared_.out;
  }
  return tree_from(std::move(parts));
}

Result<std::shared_ptr<Tree>> Trees::open_tree(const authority::Recorded& recorded) {
  return tree_of(authority::key_of_client(recorded.call().caller));
}

Result<std::shared_ptr<Tree>> Trees::open_tree(const authority::Recorded&, const Holder& holder) {
  return tree_of(holder);
}

Result<std::shared_ptr<Tree>> Trees::open_tree(const authority::Unrecorded& permit) {
  return tree_of(authority::key_of_client(permit.caller()));
}

Result<std::shared_ptr<Tree>> Trees::tree_of(const Holder& holder) {
  const std::lock_guard lock(mutex_);
  if (holder.is_scratch) return make_tree(holder);
  const std::string name = own_name(holder);
  if (const auto found = trees_.find(name); found != trees_.end()) return found->second;
  RELAY_TRY(auto tree, make_tree(holder));
  trees_.emplace(name, tree);
  return tree;
}

bool Trees::has_files(const Holder& holder) {
  const std::lock_guard lock(mutex_);
  return made_.contains(own_name(holder));
}

Result<void> Trees::close(const Holder& holder) {
  if (holder.empty()) return {};
  const std::lock_guard lock(mutex_);
  const std::string name = own_name(holder);
  trees_.erase(name);
  if (made_.erase(name) == 0 || holder.is_lasting) return {};
  if (!remove_workspace(spec_.workspace_dir + "/" + name))
    return relay::fail(from_errno(errno, "removing a session's files"));
  return {};
}

}  // namespace relay::vfs
