// SearchWalk: where a search starts. A path may be a mount's directory or file, a synthetic one, or "/" and
// "/host", which stand for what is mounted there.
#include <fcntl.h>
#include <sys/stat.h>

#include "search/search_walk.h"
#include "vfs/dir_reader.h"
#include "vfs/tree_path.h"

namespace relay::search {

vfs::FileResult<> SearchWalk::add_root(const std::string& path) {
  RELAY_FILE_TRY(const vfs::Tree::Place place, tree_.place_to_read(path));
  if (place.synthetic != nullptr) {
    RELAY_FILE_CHECK(place.synthetic->stat(place.path));
    synthetic_.push_back(place);
    return {};
  }
  if (place.mount != nullptr) {
    auto added = add_mount_root(place);
    if (!added) return vfs::fail(vfs::retold(std::move(added).error(), place.tree_path.text()));
    return {};
  }
  RELAY_FILE_TRY(const vfs::DirectoryListing below, tree_.list(path));
  for (const vfs::DirEntry& entry : below.entries)
    RELAY_FILE_CHECK(add_root(vfs::join(place.tree_path.text(), entry.name)));
  return {};
}

vfs::FileResult<> SearchWalk::add_mount_root(const vfs::Tree::Place& place) {
  const vfs::Mount& mount = *place.mount;
  const vfs::PathJudge judge = tree_.judge_of(place);
  RELAY_FILE_TRY(const vfs::FileStat found, mount.stat(place.path, vfs::LastLink::follow, judge));
  RELAY_FILE_TRY(const std::string real, mount.real_path(place.path, judge));
  const bool is_dir = found.type == vfs::FileType::directory;
  auto dir = std::make_shared<SearchDir>();
  const std::size_t mount_parts = place.tree_path.parts.front() == "host" ? 2 : 1;
  vfs::TreePath mount_path = place.tree_path;
  mount_path.parts.resize(mount_parts);
  dir->area = std::make_shared<SearchArea>(SearchArea{place.mount, mount_path.text()});
  dir->path = is_dir ? real : vfs::split_last(real).directory;
  dir->root = dir->path;
  RELAY_FILE_TRY(dir->fd, mount.dir().open_dir(dir->path));
  dir->ask_policy = !tree_.allows_reading_all_below(vfs::join(mount_path.text(), dir->path));
  if (request_.ignored == Ignored::left_out) dir->ignore = ignore_above(mount, dir->path);
  any_directory_ |= is_dir;
  SearchTask task{dir, {}, "", is_dir};
  if (!is_dir && tree_.allows_reading(vfs::join(mount_path.text(), real)))
    task.files.push_back(vfs::split_last(real).name);
  std::vector<SearchTask> tasks;
  tasks.push_back(std::move(task));
  push(std::move(tasks));
  return {};
}

std::shared_ptr<const IgnoreChain> SearchWalk::ignore_above(const vfs::Mount& mount,
                                                            std::string_view path) const {
  std::shared_ptr<const IgnoreChain> chain;
  for (std::size_t at = 0; !path.empty() && at < path.size();) {
    SearchDir dir;
    dir.path = path.substr(0, at == 0 ? 0 : at);
    dir.ignore = chain;
    if (auto fd = mount.dir().open_dir(dir.path)) {
      dir.fd = std::move(*fd);
      struct ::stat status{};
      const bool has_git = ::fstatat(dir.fd.get(), ".git", &status, AT_SYMLINK_NOFOLLOW) == 0;
      read_ignore_files(dir, true, true, has_git);
      chain = dir.ignore;
    }
    at = std::min(path.find('/', at + 1), path.size());
  }
  return chain;
}

// Made-up files are read one by one, each when its turn has come, and only those that the policies allow.
void SearchWalk::search_synthetic(const vfs::Tree::Place& root, const std::string& path, std::size_t depth,
                                  LineScan& scan, TopMatches& found) {
  const auto tree_path = vfs::parse_tree_path(vfs::join("/" + root.tree_path.parts.front(), path));
  if (!tree_path || depth > limits::kTreeDepth || tally_.should_stop() ||
      !tree_.allows_passing(tree_path->text()))
    return;
  if (const auto listing = root.synthetic->list(path)) {
    for (const vfs::DirEntry& entry : listing->entries)
      search_synthetic(root, vfs::join(path, entry.name), depth + 1, scan, found);
    return;
  }
  const std::string below = path.substr(path == root.path || root.path.empty() ? 0 : root.path.size() + 1);
  const bool fits = !file_pattern_ ||
                    file_pattern_->matches(file_pattern_->has_slash() ? below : vfs::split_last(path).name);
  if (!fits || !tree_.allows_reading(tree_path->text())) return;
  if (const auto content = root.synthetic->read(path))
    search_content(tree_path->text(), *content, scan, found);
}

}  // namespace relay::search
