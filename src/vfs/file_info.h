// What the tree says about files: plain values, the same for mounts and synthetic directories.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace relay::vfs {

enum class FileType : std::uint8_t { file, directory, link, other };  // other: devices, pipes, sockets

/// "file", "dir", "link", "other": the words of the wire and of tool results.
std::string_view name_of(FileType type);

struct FileStat {
  FileType type = FileType::file;
  std::uint64_t size = 0;
  std::int64_t mtime_ms = 0;  // since 1970
  std::uint32_t mode = 0;     // permission bits
};

struct DirEntry {
  std::string name;
  FileType type = FileType::file;
  std::uint64_t size = 0;  // of files
};

struct DirectoryListing {
  std::vector<DirEntry> entries;  // sorted by name
  bool truncated = false;         // there are more than the limit
};

struct ReadChunk {
  std::string bytes;
  std::uint64_t size = 0;  // of the whole file
  bool eof = false;        // nothing follows the bytes
};

enum class WriteMode : std::uint8_t {
  create,     // a new file; see Existing
  overwrite,  // the whole content, replaced at once: readers see the old or the new file, never half of one
  append,
  at,  // bytes at an offset of an existing file
};
enum class Existing : std::uint8_t { refuse, keep };  // create: EEXIST, or open what is there
enum class Parents : std::uint8_t { required, created };
enum class Durability : std::uint8_t {
  cached,
  synced
};  // synced: on disk (file and name) when write returns
enum class Depth : std::uint8_t { one, recursive };
enum class LastLink : std::uint8_t { follow, keep };  // keep: the link itself, as lstat and unlink do

struct WriteRequest {
  std::string path;
  std::string bytes;
  WriteMode mode = WriteMode::create;
  std::uint64_t offset = 0;  // WriteMode::at
  Existing existing = Existing::refuse;
  Parents parents = Parents::required;
  Durability durability = Durability::cached;
};

struct WriteReceipt {
  std::uint64_t bytes_written = 0;
  std::uint64_t size = 0;  // of the file afterwards
  bool created = false;
};

}  // namespace relay::vfs
