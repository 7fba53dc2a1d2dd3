// SyntheticDir: a directory whose files are made up on demand, such as /mcps.
//
// The tree calls it from pool threads, several at once: an implementation locks, or hands out a snapshot.
// Paths are relative to the directory, clean (see tree_path.h), and "" is the directory itself. A call may
// block for a while (to ask the loop something: co_spawn there with use_future, and wait with a time limit),
// never for ever.
//
// Most providers want ComputedFiles: two functions, "what is in this directory" and "what does this file
// say", and everything else (stat, sizes, listing, reading in parts, search, resources, guests) follows from
// them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vfs/file_error.h"
#include "vfs/file_info.h"

namespace relay::vfs {

class SyntheticDir {
 public:
  virtual ~SyntheticDir() = default;

  virtual FileResult<FileStat> stat(std::string_view path) = 0;
  virtual FileResult<DirectoryListing> list(std::string_view path) = 0;
  /// The whole content: synthetic files are small.
  virtual FileResult<std::string> read(std::string_view path) = 0;
  /// Special files take input by writing to them (/mcps/<server>/tools/<tool>/invoke). Read-only unless told.
  virtual FileResult<> write(std::string_view path, std::string_view bytes);
};

/// Files that functions compute. Nothing is kept between calls: a provider that is slow keeps its own cache.
///
///   list("")        -> {directory("github"), file("README.md")}     ENOENT: no such directory, ENOTDIR: it
///   is a file list("github")  -> {file("index.ts"), input_file("invoke")} read("github/index.ts") -> its
///   text                              asked only for files that list has named
class ComputedFiles final : public SyntheticDir {
 public:
  struct Entry {
    std::string name;
    FileType type = FileType::file;
    std::optional<std::uint64_t> size =
        {};  // unknown: the content is computed when somebody asks for the size
    std::uint32_t mode = 0444;
  };
  static Entry directory(std::string name) { return {std::move(name), FileType::directory, 0, 0555}; }
  static Entry file(std::string name) { return {std::move(name)}; }
  /// Takes input: it is listed with size 0, cannot be read, and search passes it by.
  static Entry input_file(std::string name) { return {std::move(name), FileType::file, 0, 0222}; }

  struct Provider {
    std::function<FileResult<std::vector<Entry>>(std::string_view directory)> list;
    std::function<FileResult<std::string>(std::string_view file)> read;
    /// May be empty: nothing takes input. Asked only for files that were listed with a mode that has write
    /// bits.
    std::function<FileResult<>(std::string_view file, std::string_view bytes)> write = {};
  };
  explicit ComputedFiles(Provider provider) : provider_(std::move(provider)) {}

  FileResult<FileStat> stat(std::string_view path) override;
  FileResult<DirectoryListing> list(std::string_view path) override;
  FileResult<std::string> read(std::string_view path) override;
  FileResult<> write(std::string_view path, std::string_view bytes) override;

 private:
  [[nodiscard]] FileResult<Entry> find_entry(std::string_view path) const;
  [[nodiscard]] FileResult<std::uint64_t> size_of(const Entry& entry, std::string_view path) const;
  Provider provider_;
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
  FileResult<DirectoryListing> list(std::string_view path) override;
  FileResult<std::string> read(std::string_view path) override;

 private:
  [[nodiscard]] const File* find_file(std::string_view path) const;
  std::vector<File> files_;
};

}  // namespace relay::vfs
