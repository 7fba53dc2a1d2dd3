#include "vfs/mount.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>

#include "base/limits.h"
#include "vfs/dir_reader.h"
#include "vfs/tree_path.h"

namespace relay::vfs {
namespace {

// Fills bytes from the file; short only at its end.
FileResult<> read_fully(const Fd& fd, std::string& bytes, std::uint64_t offset, std::string_view path) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got =
        ::pread(fd.get(), bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(file_error(errno, path));
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  bytes.resize(done);
  return {};
}

FileResult<struct ::stat> stat_fd(const Fd& fd, std::string_view path) {
  struct ::stat status{};
  if (::fstat(fd.get(), &status) != 0) return fail(file_error(errno, path));
  return status;
}

FileResult<ReadChunk> read_range(const Fd& fd, std::uint64_t offset, std::size_t length,
                                 std::string_view path) {
  RELAY_FILE_TRY(const struct ::stat status, stat_fd(fd, path));
  ReadChunk chunk;
  chunk.size = static_cast<std::uint64_t>(status.st_size);
  // Files in /proc and the like say 0 and still have content, so a zero size is read and seen.
  const std::uint64_t left = chunk.size == 0 ? length : chunk.size - std::min(offset, chunk.size);
  chunk.bytes.resize(std::min<std::uint64_t>({length, left, limits::kFileReadBytes}));
  RELAY_FILE_CHECK(read_fully(fd, chunk.bytes, offset, path));
  const std::uint64_t end = offset + chunk.bytes.size();
  chunk.eof = end >= chunk.size;
  return chunk;
}

}  // namespace

Mount::Mount(MountSpec spec, ConfinedDir dir, MountRules rules, std::shared_ptr<Quota> quota)
    : spec_(std::move(spec)), dir_(std::move(dir)), rules_(std::move(rules)), quota_(std::move(quota)) {}

Result<std::shared_ptr<Mount>> Mount::open(MountSpec spec, std::shared_ptr<Quota> quota) {
  const bool name_ok = !spec.name.empty() && spec.name.size() <= limits::kNameBytes && spec.name != "." &&
                       spec.name != ".." &&
                       spec.name.find_first_of(std::string_view("/\0", 2)) == std::string::npos;
  if (!name_ok)
    return relay::fail(
        invalid(fmt::format("mount name '{}': use letters, digits, '-', '_' and '.'", spec.name)));
  auto rules = MountRules::parse(spec.allow, spec.deny);
  if (!rules) return relay::fail(invalid(fmt::format("mount '{}': {}", spec.name, rules.error().message)));
  auto dir = ConfinedDir::open(spec.host_path, spec.hidden);
  if (!dir) {
    dir.error().message = fmt::format("mount '{}': {}", spec.name, dir.error().message);
    return relay::fail(std::move(dir).error());
  }
  return std::shared_ptr<Mount>(
      new Mount(std::move(spec), std::move(*dir), std::move(*rules), std::move(quota)));
}

FileResult<> Mount::check_rules(std::string_view path, Check check) const {
  if (rules_.empty() || rules_.allows(path)) return {};
  if (check == Check::passing && rules_.allows_passing(path)) return {};
  return fail(file_error(EACCES, path, "the rules of the mount deny it"));
}

FileResult<> Mount::check_writable(std::string_view path) const {
  if (writable()) return {};
  return fail(file_error(EROFS, path));
}

FileResult<> Mount::check_free(const Fd& parent, const std::string& name, std::string_view path) const {
  if (!dir_.hides_entry(parent, name)) return {};
  return fail(file_error(EACCES, path, "it is the place of a file of Relay's own"));
}

FileResult<> Mount::check_movable(const Fd& parent, const std::string& name, std::string_view path) const {
  if (dir_.hides_entry(parent, name)) return fail(file_error(ENOENT, path));
  struct ::stat status{};
  const bool known = ::fstatat(parent.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
  if (!known || !dir_.hidden() || !dir_.hidden()->pins(status)) return {};
  return fail(file_error(EBUSY, path, "files of Relay's own lie behind it, so it stays where it is"));
}

FileResult<> Mount::check_use(const PathJudge& judge, std::string_view path, PathUse use) {
  if (!judge || judge(path, use)) return {};
  return fail(file_error(EACCES, path, "policy.filesystem does not allow it"));
}

FileResult<std::string> Mount::real_path(std::string_view path, const PathJudge& judge) const {
  const Checks checks{LastLink::follow, Check::passing, PathUse::pass, judge};
  return at(path, checks, [&](const std::string& real) -> FileResult<std::string> {
    RELAY_FILE_CHECK(dir_.open_at(real, O_PATH));
    return real;
  });
}

FileResult<FileStat> Mount::stat(std::string_view path, LastLink last, const PathJudge& judge) const {
  const Checks checks{last, Check::passing, PathUse::pass, judge};
  return at(path, checks, [&](const std::string& real) -> FileResult<FileStat> {
    RELAY_FILE_TRY(const Fd fd, dir_.open_at(real, last == LastLink::keep ? O_PATH | O_NOFOLLOW : O_PATH));
    RELAY_FILE_TRY(const struct ::stat status, stat_fd(fd, real));
    if (S_ISDIR(status.st_mode)) return make_stat(status);
    RELAY_FILE_CHECK(check_rules(real, Check::full));
    RELAY_FILE_CHECK(check_use(judge, real, PathUse::read));
    return make_stat(status);
  });
}

FileResult<DirectoryListing> Mount::list(std::string_view path, std::size_t entries_max,
                                         const PathJudge& judge) const {
  const Checks checks{LastLink::follow, Check::passing, PathUse::pass, judge};
  return at(path, checks, [&](const std::string& real) -> FileResult<DirectoryListing> {
    RELAY_FILE_TRY(const Fd fd, dir_.open_dir(real));
    const auto visible = [&](std::string_view name, FileType type) {
      const std::string entry = join(real, name);
      if (dir_.hides_entry(fd, std::string(name))) return false;
      const bool is_dir = type == FileType::directory;
      if (judge && !judge(entry, is_dir ? PathUse::pass : PathUse::read)) return false;
      return rules_.allows(entry) || (is_dir && rules_.allows_passing(entry));
    };
    return read_listing(fd, real, entries_max, visible);
  });
}

FileResult<ReadChunk> Mount::read(std::string_view path, std::uint64_t offset, std::size_t length,
                                  const PathJudge& judge) const {
  if (offset > INT64_MAX - limits::kFileReadBytes)
    return fail(file_error(EINVAL, path, "the offset is too large"));
  const Checks checks{LastLink::follow, Check::full, PathUse::read, judge};
  return at(path, checks, [&](const std::string& real) -> FileResult<ReadChunk> {
    RELAY_FILE_TRY(const Fd fd, dir_.open_file(real, O_RDONLY));
    return read_range(fd, offset, length, real);
  });
}

}  // namespace relay::vfs
