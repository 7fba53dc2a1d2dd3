#include "vfs/workspace.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "base/digest.h"
#include "vfs/deep_walk.h"

namespace relay::vfs {
namespace {

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
  for (const char* area : {"tmp", "out"}) {
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

Result<void> check_names(const std::vector<MountSpec>& mounts) {
  std::set<std::string_view> names;
  for (const MountSpec& mount : mounts) {
    if (!names.insert(mount.name).second) {
      return relay::fail(
          invalid(fmt::format("two mounts are named '{}'; give one another name", mount.name)));
    }
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
    RELAY_TRY(auto opened, Mount::open(mount));
    RELAY_CHECK(check_root(*opened));
    trees->host_.push_back(std::move(opened));
  }
  RELAY_CHECK(make_directories(trees->spec_.workspace_dir));
  if (trees->spec_.workspace == WorkspaceKind::session) trees->remove_old_sessions();
  return trees;
}

// Sessions do not outlive the server; what a crash left of them does.
void Trees::remove_old_sessions() const {
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(spec_.workspace_dir, failure)) {
    if (entry.path().filename().string().starts_with("session-")) remove_workspace(entry.path().string());
  }
}

std::string Trees::workspace_name(const Holder& holder) const {
  switch (spec_.workspace) {
    case WorkspaceKind::shared: return "shared";
    case WorkspaceKind::session:
      return holder.session.empty() ? "client-" + sha256_hex(holder.client).substr(0, 32)
                                    : "session-" + sha256_hex(holder.session).substr(0, 32);
  }
  return "shared";
}

Result<std::shared_ptr<Tree>> Trees::make_tree(const std::string& workspace) {
  const std::string directory = spec_.workspace_dir + "/" + workspace;
  RELAY_CHECK(make_directories(directory));
  const auto quota = std::make_shared<Quota>(
      spec_.workspace_quota, [directory, stop = stop_.get_token()] { return measure(directory, stop); });
  TreeParts parts{host_, nullptr, nullptr, mcps_};
  RELAY_TRY(parts.tmp, open_area(directory, "tmp", quota, spec_.hidden));
  RELAY_TRY(parts.out, open_area(directory, "out", quota, spec_.hidden));
  const Tree tree(std::move(parts));
  return std::make_shared<Tree>(spec_.policy ? tree.narrowed(*spec_.policy) : tree);
}

Result<std::shared_ptr<Tree>> Trees::open_tree(const authority::Recorded& recorded) {
  return tree_of(holder_of(recorded.call().caller));
}

Result<std::shared_ptr<Tree>> Trees::open_tree(const authority::Unrecorded& permit) {
  return tree_of(holder_of(permit.caller()));
}

Result<std::shared_ptr<Tree>> Trees::tree_of(const Holder& holder) {
  const std::lock_guard lock(mutex_);
  const std::string workspace = workspace_name(holder);
  if (const auto found = trees_.find(workspace); found != trees_.end()) return found->second;
  RELAY_TRY(auto tree, make_tree(workspace));
  trees_.emplace(workspace, tree);
  return tree;
}

Result<void> Trees::close_session(const Holder& holder) {
  if (spec_.workspace == WorkspaceKind::shared || holder.session.empty()) return {};
  const std::lock_guard lock(mutex_);
  const std::string workspace = workspace_name(holder);
  trees_.erase(workspace);
  if (!remove_workspace(spec_.workspace_dir + "/" + workspace))
    return relay::fail(from_errno(errno, "removing a session's workspace"));
  return {};
}

}  // namespace relay::vfs
