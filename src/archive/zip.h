// Zip archives: a writer whose bytes depend on nothing but its input, and a reader that trusts nothing.
//
// The writer sorts names, fixes time stamps and modes, and stores or deflates: equal files give equal
// archives, which is what makes a layer's hash its name. The reader works on an archive in memory and
// refuses, before it unpacks a byte: names that leave the tree, names that occur twice or lie below a file,
// symbolic links and devices, encrypted or multi-disk or Zip64 archives, entries that overlap each other or
// the directory, and sizes over the limits. Unpacking stops at the promised size, and the checksum must
// match. Both are pure and may run on any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "base/result.h"

namespace relay::archive {

enum class ZipMethod : std::uint8_t { store, deflate };

/// Name -> bytes. Names follow is_zip_name; the map keeps them sorted.
using ZipFiles = std::map<std::string, std::string>;

Result<std::string> write_zip(const ZipFiles& files, ZipMethod method);

/// Relative, '/'-separated, valid UTF-8, no empty, "." or ".." component, no backslash, no NUL, no drive
/// letter.
bool is_zip_name(std::string_view name);

struct ZipLimits {
  std::size_t entries = limits::kZipEntries;
  std::uint64_t unpacked_bytes = limits::kZipUnpackedBytes;
};

struct ZipEntry {
  std::string name;
  std::uint64_t packed_bytes = 0;
  std::uint64_t bytes = 0;
  std::uint32_t crc = 0;
  ZipMethod method = ZipMethod::store;
  std::size_t data_at = 0;  // where the packed bytes begin
};

class ZipReader {
 public:
  /// Reads and checks the directory. `archive` must outlive the reader.
  static Result<ZipReader> open(std::string_view archive, const ZipLimits& limits = {});

  /// Files only, in the order of the archive's directory.
  [[nodiscard]] const std::vector<ZipEntry>& entries() const { return entries_; }
  [[nodiscard]] const ZipEntry* find(std::string_view name) const;
  [[nodiscard]] Result<std::string> read(const ZipEntry& entry) const;
  [[nodiscard]] Result<ZipFiles> read_all() const;

 private:
  explicit ZipReader(std::string_view archive) : archive_(archive) {}
  std::string_view archive_;
  std::vector<ZipEntry> entries_;
};

}  // namespace relay::archive
