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
  RecursiveRemoval(const MountRules& rules, const PathJudge& judge, const HiddenFiles* hidden,
                   Quota::Change& change)
      : rules_(rules), judge_(judge), hidden_(hidden), change_(change) {}

  FileResult<> empty(const Fd& directory, const std::string& path, std::size_t depth) {
    if (depth > limits::kTreeDepth)
      return fail(file_error(ELOOP, path, "the directories are nested too deeply"));
    // Names are collected first: removing while reading makes some file systems skip entries.
    std::vector<DirEntry> entries;
    DirReader reader(directory);
    for (DirReader::Entry entry; reader.next(entry);)
      entries.push_back({std::string(entry.name), entry.type, 0});
    if (reader.failed_number() != 0) return fail(file_error(reader.failed_number(), path));
    for (const DirEntry& entry : entries) {
      // What is hidden stays, and so does its directory: the caller hears that it is not empty.
      if (hidden_ && hidden_->hides_entry(directory, entry.name.c_str())) continue;
      RELAY_FILE_CHECK(remove(directory, entry, join(path, entry.name), depth));
    }
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
    if (judge_ && !judge_(path, PathUse::write))
      return fail(file_error(EACCES, path, "policy.filesystem does not allow it"));
    if (entry.type == FileType::directory) {
      RELAY_FILE_TRY(const Fd below, open_subdirectory(directory, entry.name.c_str()));
      RELAY_FILE_CHECK(empty(below, path, depth + 1));
    }
    return unlink(directory, entry, path);
  }

  FileResult<> unlink(const Fd& directory, const DirEntry& entry, const std::string& path) {
    struct ::stat status{};
    const bool known = ::fstatat(directory.get(), entry.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
    if (known && hidden_ && hidden_->pins(status)) return fail(file_error(EBUSY, path));
    const int flags = entry.type == FileType::directory ? AT_REMOVEDIR : 0;
    if (::unlinkat(directory.get(), entry.name.c_str(), flags) != 0) return fail(file_error(errno, path));
    const bool is_file = known && S_ISREG(status.st_mode);
    change_.credit(is_file ? static_cast<std::uint64_t>(status.st_size) : 0, 1);
    return {};
  }

  const MountRules& rules_;
  const PathJudge& judge_;
  const HiddenFiles* hidden_;
  Quota::Change& change_;
  std::size_t removed_ = 0;
};

// Asks about everything in a directory that is about to have another name. What is denied under either name
// must not get there, or leave, with its directory.
class RenameCheck {
 public:
  RenameCheck(const PathJudge& old_judge, const PathJudge& new_judge)
      : old_judge_(old_judge), new_judge_(new_judge) {}

  FileResult<> below(const Fd& directory, const std::string& old_path, const std::string& new_path,
                     std::size_t depth) {
    if (depth > limits::kTreeDepth)
      return fail(file_error(ELOOP, old_path, "the directories are nested too deeply"));
    std::vector<DirEntry> entries;
    DirReader reader(directory);
    for (DirReader::Entry entry; reader.next(entry);)
      entries.push_back({std::string(entry.name), entry.type, 0});
    if (reader.failed_number() != 0) return fail(file_error(reader.failed_number(), old_path));
    for (const DirEntry& entry : entries)
      RELAY_FILE_CHECK(one(directory, entry, join(old_path, entry.name), join(new_path, entry.name), depth));
    return {};
  }

 private:
  FileResult<> one(const Fd& directory, const DirEntry& entry, const std::string& old_path,
                   const std::string& new_path, std::size_t depth) {
    if (++asked_ > limits::kRemoveEntries)
      return fail(file_error(E2BIG, old_path, "the directory holds too much to be renamed at once"));
    for (const auto& [judge, path] : {std::pair(&old_judge_, &old_path), std::pair(&new_judge_, &new_path)})
      if (*judge && !(*judge)(*path, PathUse::write))
        return fail(file_error(EACCES, *path, "the policy does not let the directory around it be renamed"));
    if (entry.type != FileType::directory) return {};
    RELAY_FILE_TRY(const Fd next, open_subdirectory(directory, entry.name.c_str()));
    return below(next, old_path, new_path, depth + 1);
  }

  const PathJudge& old_judge_;
  const PathJudge& new_judge_;
  std::size_t asked_ = 0;
};

}  // namespace

FileResult<> Mount::make_one_dir(const std::string& path) {
  RELAY_FILE_TRY(const Named named, open_parent(dir_, path));
  RELAY_FILE_CHECK(check_free(named.parent, named.name, path));
  Quota::Change change(quota_.get());
  struct ::stat status{};
  if (stat_name(named, status)) return fail(file_error(EEXIST, path));
  if (!change.charge(0, 1)) return fail(file_error(ENOSPC, path));
  if (::mkdirat(named.parent.get(), named.name.c_str(), 0777) == 0) return {};
  const int number = errno;
  change.credit(0, 1);
  return fail(file_error(number, path));
}

FileResult<> Mount::make_dir(std::string_view path, Depth depth, const PathJudge& judge) {
  RELAY_FILE_CHECK(check_writable(path));
  if (path.empty()) return depth == Depth::recursive ? FileResult<>{} : fail(file_error(EEXIST, path));
  const auto make = [&](std::string_view one) {
    const Checks checks{LastLink::keep, Check::passing, PathUse::write, judge};
    return at(one, checks, [&](const std::string& real) { return make_one_dir(real); });
  };
  if (depth == Depth::one) return make(path);
  for (std::size_t end = 0; end < path.size();) {
    end = std::min(path.find('/', end + 1), path.size());
    const std::string_view prefix = path.substr(0, end);
    // A directory above what may be written must be there already.
    const bool may_make = !judge || judge(prefix, PathUse::write);
    auto made = may_make ? make(prefix) : FileResult<>(fail(file_error(EEXIST, prefix)));
    if (made) continue;
    if (made.error().number != EEXIST) return made;
    RELAY_FILE_TRY(const FileStat found, stat(prefix, LastLink::follow, judge));
    if (found.type != FileType::directory)
      return fail(file_error(end == path.size() ? EEXIST : ENOTDIR, prefix));
  }
  return {};
}

FileResult<> Mount::remove_one(const std::string& path, Depth depth, const PathJudge& judge) {
  RELAY_FILE_TRY(const Named named, open_parent(dir_, path));
  Quota::Change change(quota_.get());
  struct ::stat status{};
  if (!stat_name(named, status)) return fail(file_error(errno, path));
  RELAY_FILE_CHECK(check_movable(named.parent, named.name, path));
  const bool is_dir = S_ISDIR(status.st_mode);
  if (is_dir && depth == Depth::recursive) {
    RELAY_FILE_TRY(const Fd directory, open_subdirectory(named.parent, named.name.c_str()));
    RELAY_FILE_CHECK(RecursiveRemoval(rules_, judge, dir_.hidden(), change).empty(directory, path, 0));
  }
  if (::unlinkat(named.parent.get(), named.name.c_str(), is_dir ? AT_REMOVEDIR : 0) != 0) {
    return fail(file_error(errno, path));
  }
  change.credit(S_ISREG(status.st_mode) ? static_cast<std::uint64_t>(status.st_size) : 0, 1);
  return {};
}

FileResult<> Mount::remove(std::string_view path, Depth depth, const PathJudge& judge) {
  RELAY_FILE_CHECK(check_writable(path));
  if (path.empty()) return fail(file_error(EBUSY, path, "a mount cannot be removed"));
  const Checks checks{LastLink::keep, Check::full, PathUse::write, judge};
  return at(path, checks, [&](const std::string& real) { return remove_one(real, depth, judge); });
}

FileResult<> Mount::rename_one(const RenameEnd& source_end, const std::string& old_path,
                               const RenameEnd& target_end, const std::string& new_path, Beneath beneath) {
  Mount& from = source_end.mount;
  Mount& to = target_end.mount;
  RELAY_FILE_TRY(const Named old_name, open_parent(from.dir_, old_path));
  RELAY_FILE_TRY(const Named new_name, open_parent(to.dir_, new_path));
  Quota::Change change(from.quota_.get());
  struct ::stat source{}, target{};
  if (!stat_name(old_name, source)) return fail(file_error(errno, old_path));
  RELAY_FILE_CHECK(from.check_movable(old_name.parent, old_name.name, old_path));
  RELAY_FILE_CHECK(to.check_free(new_name.parent, new_name.name, new_path));
  RELAY_FILE_CHECK(to.check_movable(new_name.parent, new_name.name, new_path));
  const bool has_rules = !from.rules_.empty() || !to.rules_.empty();
  if (S_ISDIR(source.st_mode) && has_rules) {
    return fail(
        file_error(EACCES, old_path,
                   "directories are not renamed in a mount with rules: what a rule hides would come along"));
  }
  // What the policy denies beneath a directory must not come along under another name.
  if (S_ISDIR(source.st_mode)) RELAY_FILE_CHECK(check_use(source_end.judge, old_path, PathUse::write_all));
  if (S_ISDIR(source.st_mode) && beneath == Beneath::one_by_one) {
    RELAY_FILE_TRY(const Fd directory, open_subdirectory(old_name.parent, old_name.name.c_str()));
    RELAY_FILE_CHECK(RenameCheck(source_end.judge, target_end.judge).below(directory, old_path, new_path, 0));
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

FileResult<> Mount::rename(const RenameEnd& from, const RenameEnd& to, Beneath beneath) {
  RELAY_FILE_CHECK(from.mount.check_writable(from.path));
  RELAY_FILE_CHECK(to.mount.check_writable(to.path));
  const bool together =
      &from.mount == &to.mount || (from.mount.quota_ != nullptr && from.mount.quota_ == to.mount.quota_);
  if (!together)
    return fail(file_error(EXDEV, to.path, "the two paths are in different mounts; copy instead"));
  if (from.path.empty() || to.path.empty())
    return fail(file_error(EBUSY, from.path, "a mount cannot be renamed"));
  const Checks old_checks{LastLink::keep, Check::full, PathUse::write, from.judge};
  const Checks new_checks{LastLink::keep, Check::full, PathUse::write, to.judge};
  return from.mount.at(from.path, old_checks, [&](const std::string& old_real) {
    return to.mount.at(to.path, new_checks, [&](const std::string& new_real) {
      return rename_one(from, old_real, to, new_real, beneath);
    });
  });
}

}  // namespace relay::vfs
