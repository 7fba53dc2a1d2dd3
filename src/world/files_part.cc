#include "world/files_part.h"

#include "base/limits.h"
#include "config/state_directory.h"

namespace relay::world {
namespace {

vfs::MountSpec mount_spec(const config::MountConfig& mount) {
  return {.name = mount.name,
          .host_path = mount.path.string(),
          .mode = mount.writable ? vfs::MountMode::rw : vfs::MountMode::ro,
          .allow = mount.allow,
          .deny = mount.deny,
          .symlinks = mount.follow_symlinks ? vfs::Symlinks::follow : vfs::Symlinks::forbid};
}

std::vector<vfs::MountSpec> mount_specs(const config::Config& config) {
  std::vector<vfs::MountSpec> specs;
  for (const config::MountConfig& mount : config.mounts) specs.push_back(mount_spec(mount));
  return specs;
}

}  // namespace

FilesPart::FilesPart(Log& log, std::shared_ptr<vfs::HiddenFiles> hidden, std::unique_ptr<vfs::Trees> trees)
    : log_(log),
      hidden_(std::move(hidden)),
      trees_(std::move(trees)),
      search_pool_(limits::kSearchesAtOnce) {}

Result<std::unique_ptr<FilesPart>> FilesPart::open(const config::Config& config, const Services& services,
                                                   std::shared_ptr<vfs::SyntheticDir> mcps) {
  auto hidden = std::make_shared<vfs::HiddenFiles>(config::private_paths(config));
  vfs::TreeSpec spec;
  spec.mounts = mount_specs(config);
  spec.workspace_dir = (config.project / "workspace").string();
  spec.workspace = config.workspace == config::WorkspaceChoice::session ? vfs::WorkspaceKind::session
                                                                        : vfs::WorkspaceKind::shared;
  spec.workspace_quota.bytes = config.workspace_quota_bytes;
  spec.policy = config.policy.run.filesystem;
  spec.hidden = hidden;
  RELAY_TRY(auto trees, vfs::Trees::open(std::move(spec), std::move(mcps)));
  return std::unique_ptr<FilesPart>(new FilesPart(services.log, std::move(hidden), std::move(trees)));
}

void FilesPart::adopt(const config::Config& now) {
  for (const Error& problem : trees_->change(mount_specs(now), now.policy.run.filesystem))
    log_.error("a mount cannot be opened and is left out", {{"reason", problem.message}});
}

void FilesPart::describe(tools::ServerInfo& info) const {
  info.add("mounts", [this] {
    json::array mounts;
    for (const vfs::MountSpec& mount : trees_->spec().mounts)
      mounts.push_back(
          {{"path", "/host/" + mount.name}, {"mode", mount.mode == vfs::MountMode::rw ? "rw" : "ro"}});
    return json::value(std::move(mounts));
  });
}

}  // namespace relay::world
