// Mount: everything that changes names: new directories, removal, renaming.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <functional>

#include <fmt/format.h>

#include "base/limits.h"
#include "vfs/dir_reader.h"
#include "vfs/mount.h"
#include "vfs/tree_path.h"

namespace relay::vfs {
namespace {

struct Named {
  Fd parent;
  std::string name;
};

FileResult<Named> open_parent(const ConfinedDir& dir, const std::string& path) {
  SplitPath split = split_last(path);
  RELAY_FILE_TRY(Fd parent, dir.open_at(split.directory, O_PATH | O_DIRECTORY));
  return Named{std::move(parent), std::move(split.name)};
}

bool stat_name(const Named& named, struct ::stat& status) {
  return ::fstatat(named.parent.get(), named.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
}

// Empties a directory. Each step opens one part of a name and never a link, so a directory that is swapped
// for a link meanwhile is unlinked or refused, not followed.
class RecursiveRemoval {
 public:
  RecursiveRemoval(const MountRules& rules, Quota::Change& change) : rules_(rules), change_(change) {}

  FileResult<> empty(const Fd& directory, const std::string& path, std::size_t depth) {
    if (depth > limits::kTreeDepth)
      return fail(file_error(ELOOP, path, "the directories are nested too deeply"));
    // Names are collected first: removing while reading makes some file systems skip entries.
    std::vector<DirEntry> entries;
    DirReader reader(directory);
    for (DirReader::Entry entry; reader.next(entry);)
      entries.push_back({std::string(entry.name), entry.type, 0});
    if (reader.failed_number() != 0) return fail(file_error(reader.failed_number(), path));
    for (const DirEntry& entry : entries)
      RELAY_FILE_CHECK(remove(directory, entry, join(path, entry.name), depth));
    return {};
  }

 private:
  FileResult<> remove(const Fd& directory, const DirEntry& entry, const std::string& path,
                      std::size_t depth) {
    if (++removed_ > limits::kRemoveEntries) {
      return fail(
          file_error(E2BIG, path,
                     fmt::format("stopped after {} entries; remove again to go on", limits::kRemoveEntries)));
    }
    if (!rules_.allows(path)) return fail(file_error(EACCES, path, "the rules of the mount deny it"));
    if (entry.type == FileType::directory) {
      RELAY_FILE_TRY(const Fd below, open_subdirectory(directory, entry.name.c_str()));
      RELAY_FILE_CHECK(empty(below, path, depth + 1));
    }
    return unlink(directory, entry, path);
  }

  FileResult<> unlink(const Fd& directory, const DirEntry& entry, const std::string& path) {
    struct ::stat status{};
    const bool known = ::fstatat(directory.get(), entry.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
    const int flags = entry.type == FileType::directory ? AT_REMOVEDIR : 0;
    if (::unlinkat(directory.get(), entry.name.c_str(), flags) != 0) return fail(file_error(errno, path));
    const bool is_file = known && S_ISREG(status.st_mode);
    change_.credit(is_file ? static_cast<std::uint64_t>(status.st_size) : 0, 1);
    return {};
  }

  const MountRules& rules_;
  Quota::Change& change_;
  std::size_t removed_ = 0;
};

}  // namespace

FileResult<> Mount::make_one_dir(const std::string& path) {
  RELAY_FILE_TRY(const Named named, open_parent(dir_, path));
  Quota::Change change(quota_.get());
  struct ::stat status{};
  if (stat_name(named, status)) return fail(file_error(EEXIST, path));
  if (!change.charge(0, 1)) return fail(file_error(ENOSPC, path));
  if (::mkdirat(named.parent.get(), named.name.c_str(), 0777) == 0) return {};
  const int number = errno;
  change.credit(0, 1);
  return fail(file_error(number, path));
}

FileResult<> Mount::make_dir(std::string_view path, Depth depth) {
  RELAY_FILE_CHECK(check_writable(path));
  if (path.empty()) return depth == Depth::recursive ? FileResult<>{} : fail(file_error(EEXIST, path));
  const auto make = [&](std::string_view one) {
    return at(one, LastLink::keep, Check::passing,
              [&](const std::string& real) { return make_one_dir(real); });
  };
  if (depth == Depth::one) return make(path);
  for (std::size_t end = 0; end < path.size();) {
    end = std::min(path.find('/', end + 1), path.size());
    const std::string_view prefix = path.substr(0, end);
    auto made = make(prefix);
    if (made) continue;
    if (made.error().number != EEXIST) return made;
    RELAY_FILE_TRY(const FileStat found, stat(prefix, LastLink::follow));
    if (found.type != FileType::directory)
      return fail(file_error(end == path.size() ? EEXIST : ENOTDIR, prefix));
  }
  return {};
}

FileResult<> Mount::remove_one(const std::string& path, Depth depth) {
  RELAY_FILE_TRY(const Named named, open_parent(dir_, path));
  Quota::Change change(quota_.get());
  struct ::stat status{};
  if (!stat_name(named, status)) return fail(file_error(errno, path));
  const bool is_dir = S_ISDIR(status.st_mode);
  if (is_dir && depth == Depth::recursive) {
    RELAY_FILE_TRY(const Fd directory, open_subdirectory(named.parent, named.name.c_str()));
    RELAY_FILE_CHECK(RecursiveRemoval(rules_, change).empty(directory, path, 0));
  }
  if (::unlinkat(named.parent.get(), named.name.c_str(), is_dir ? AT_REMOVEDIR : 0) != 0) {
    return fail(file_error(errno, path));
  }
  change.credit(S_ISREG(status.st_mode) ? static_cast<std::uint64_t>(status.st_size) : 0, 1);
  return {};
}

FileResult<> Mount::remove(std::string_view path, Depth depth) {
  RELAY_FILE_CHECK(check_writable(path));
  if (path.empty()) return fail(file_error(EBUSY, path, "a mount cannot be removed"));
  return at(path, LastLink::keep, Check::full,
            [&](const std::string& real) { return remove_one(real, depth); });
}

FileResult<> Mount::rename_one(Mount& from, const std::string& old_path, Mount& to,
                               const std::string& new_path) {
  RELAY_FILE_TRY(const Named old_name, open_parent(from.dir_, old_path));
  RELAY_FILE_TRY(const Named new_name, open_parent(to.dir_, new_path));
  Quota::Change change(from.quota_.get());
  struct ::stat source{}, target{};
  if (!stat_name(old_name, source)) return fail(file_error(errno, old_path));
  const bool has_rules = !from.rules_.empty() || !to.rules_.empty();
  if (S_ISDIR(source.st_mode) && has_rules) {
    return fail(
        file_error(EACCES, old_path,
                   "directories are not renamed in a mount with rules: what a rule hides would come along"));
  }
  const bool replaces =
      stat_name(new_name, target) && (source.st_ino != target.st_ino || source.st_dev != target.st_dev);
  if (::renameat(old_name.parent.get(), old_name.name.c_str(), new_name.parent.get(),
                 new_name.name.c_str()) != 0) {
    return fail(file_error(errno, new_path));
  }
  if (replaces) change.credit(S_ISREG(target.st_mode) ? static_cast<std::uint64_t>(target.st_size) : 0, 1);
  return {};
}

FileResult<> Mount::rename(Mount& from, std::string_view old_path, Mount& to, std::string_view new_path) {
  RELAY_FILE_CHECK(from.check_writable(old_path));
  RELAY_FILE_CHECK(to.check_writable(new_path));
  const bool together = &from == &to || (from.quota_ != nullptr && from.quota_ == to.quota_);
  if (!together)
    return fail(file_error(EXDEV, new_path, "the two paths are in different mounts; copy instead"));
  if (old_path.empty() || new_path.empty())
    return fail(file_error(EBUSY, old_path, "a mount cannot be renamed"));
  return from.at(old_path, LastLink::keep, Check::full, [&](const std::string& old_real) {
    return to.at(new_path, LastLink::keep, Check::full,
                 [&](const std::string& new_real) { return rename_one(from, old_real, to, new_real); });
  });
}

}  // namespace relay::vfs
