#include "vfs/dir_reader.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/limits.h"
#include "vfs/confined_dir.h"

namespace relay::vfs {
namespace {

constexpr std::size_t kBlockBytes = 32 * limits::kKiB;

bool is_dots(const char* name) {
  return name[0] == '.' && (name[1] == 0 || (name[1] == '.' && name[2] == 0));
}

std::uint64_t size_of_file(const Fd& directory, const std::string& name) {
  struct ::stat status{};
  return ::fstatat(directory.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0
             ? static_cast<std::uint64_t>(status.st_size)
             : 0;
}

}  // namespace

DirReader::DirReader(const Fd& directory)
    : fd_(directory.get()), block_(std::make_unique_for_overwrite<char[]>(kBlockBytes)) {
  if (::lseek(fd_, 0, SEEK_SET) < 0) failed_number_ = errno;
}

bool DirReader::fill() {
  const ssize_t got = failed_number_ == 0 ? ::getdents64(fd_, block_.get(), kBlockBytes) : 0;
  if (got < 0) failed_number_ = errno;
  at_ = 0;
  end_ = got > 0 ? static_cast<std::size_t>(got) : 0;
  return end_ > 0;
}

FileType DirReader::type_by_stat(const char* name) const {
  struct ::stat status{};
  if (::fstatat(fd_, name, &status, AT_SYMLINK_NOFOLLOW) != 0) return FileType::other;
  return type_of_mode(status.st_mode);
}

bool DirReader::next(Entry& entry) {
  while (at_ < end_ || fill()) {
    const auto* raw = reinterpret_cast<const struct ::dirent64*>(block_.get() + at_);
    at_ += raw->d_reclen;
    if (is_dots(raw->d_name)) continue;
    entry.name = raw->d_name;
    entry.type = raw->d_type == DT_UNKNOWN ? type_by_stat(raw->d_name) : type_of_mode(DTTOIF(raw->d_type));
    return true;
  }
  return false;
}

FileResult<DirectoryListing> read_listing(const Fd& directory, std::string_view path, std::size_t entries_max,
                                          const EntryFilter& visible) {
  DirectoryListing listing;
  DirReader reader(directory);
  DirReader::Entry entry;
  while (!listing.truncated && reader.next(entry)) {
    if (!visible(entry.name, entry.type)) continue;
    listing.truncated = listing.entries.size() >= entries_max;
    if (!listing.truncated) listing.entries.push_back({std::string(entry.name), entry.type, 0});
  }
  if (reader.failed_number() != 0) return fail(file_error(reader.failed_number(), path));
  for (DirEntry& found : listing.entries) {
    if (found.type == FileType::file) found.size = size_of_file(directory, found.name);
  }
  std::sort(listing.entries.begin(), listing.entries.end(),
            [](const DirEntry& a, const DirEntry& b) { return a.name < b.name; });
  return listing;
}

FileResult<Fd> open_subdirectory(const Fd& directory, const char* name) {
  Fd fd(::openat(directory.get(), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd.is_open()) return fail(file_error(errno, name));
  return fd;
}

}  // namespace relay::vfs
