// SyntheticDir: a directory whose files are made up on demand, such as /mcps.
//
// The tree calls it from pool threads, several at once: an implementation locks, or hands out a snapshot. Paths
// are relative to the directory, clean (see tree_path.h), and "" is the directory itself.
#pragma once

#include <string>
#include <string_view>

#include "vfs/file_error.h"
#include "vfs/file_info.h"

namespace relay::vfs {

class SyntheticDir {
 public:
  virtual ~SyntheticDir() = default;

  virtual FileResult<FileStat> stat(std::string_view path) = 0;
  virtual FileResult<Listing> list(std::string_view path) = 0;
  /// The whole content: synthetic files are small.
  virtual FileResult<std::string> read(std::string_view path) = 0;
  /// Special files take input by writing to them (/mcps/<server>/tools/<tool>/invoke). Read-only unless told.
  virtual FileResult<> write(std::string_view path, std::string_view bytes);
};

/// Fixed files under a directory, for tests and for what never changes.
class FixedFiles final : public SyntheticDir {
 public:
  struct File {
    std::string path;
    std::string content;
  };
  explicit FixedFiles(std::vector<File> files) : files_(std::move(files)) {}

  FileResult<FileStat> stat(std::string_view path) override;
  FileResult<Listing> list(std::string_view path) override;
  FileResult<std::string> read(std::string_view path) override;

 private:
  [[nodiscard]] const File* find_file(std::string_view path) const;
  std::vector<File> files_;
};

}  // namespace relay::vfs
