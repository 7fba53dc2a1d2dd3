// Reading directories: getdents64 in large blocks, for listings, recursive removal and search.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "vfs/file_error.h"
#include "vfs/file_info.h"

namespace relay::vfs {

/// Reads the entries of an open directory from its start, without "." and "..". The type comes from the
/// directory itself; where the file system does not say, from a stat that follows no link.
class DirReader {
 public:
  explicit DirReader(const Fd& directory);

  struct Entry {
    std::string_view name;  // valid until the next call; followed by a NUL
    FileType type;
  };
  /// False at the end or on an error, see failed_number.
  bool next(Entry& entry);
  [[nodiscard]] int failed_number() const { return failed_number_; }

 private:
  bool fill();
  FileType type_by_stat(const char* name) const;

  int fd_;
  int failed_number_ = 0;
  std::unique_ptr<char[]> block_;
  std::size_t at_ = 0, end_ = 0;
};

using EntryFilter = std::function<bool(std::string_view name, FileType type)>;

/// At most entries_max visible entries, sorted by name, files with their size.
FileResult<DirectoryListing> read_listing(const Fd& directory, std::string_view path, std::size_t entries_max,
                                          const EntryFilter& visible);

/// Opens name in directory for reading, when it is a directory itself: a single part, never through a link.
FileResult<Fd> open_subdirectory(const Fd& directory, const char* name);

}  // namespace relay::vfs
