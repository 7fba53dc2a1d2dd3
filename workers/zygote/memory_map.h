// What /proc says about a process's memory: its areas, and for each page whether it is there and whose it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace relay::zygote {

constexpr std::size_t kPageBytes = 4096;

struct Range {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;

  [[nodiscard]] std::size_t bytes() const { return end - begin; }
  [[nodiscard]] void* address() const { return reinterpret_cast<void*>(begin); }
};

struct Area : Range {
  bool readable = false;
  bool writable = false;
  bool executable = false;
  bool is_private = false;
  bool has_file = false;
  std::string name;  // of the file, or what the kernel calls it: "[heap]"
};

/// A line of maps: "7f00-7f10 rw-p 00000000 00:00 0   [heap]". Nothing for any other line, such as most of smaps.
std::optional<Area> parse_area(std::string_view line);

Result<std::vector<Area>> read_areas(const std::string& process = "self");

/// One page, as pagemap describes it (Documentation/admin-guide/mm/pagemap.rst).
class Page {
 public:
  explicit Page(std::uint64_t bits = 0) : bits_(bits) {}
  [[nodiscard]] bool is_present() const { return (bits_ >> 63 & 1) != 0; }
  /// A file's page, not a copy of our own.
  [[nodiscard]] bool is_file() const { return is_present() && (bits_ >> 61 & 1) != 0; }
  /// Mapped by this process and no other.
  [[nodiscard]] bool is_own() const { return is_present() && !is_file() && (bits_ >> 56 & 1) != 0; }

 private:
  std::uint64_t bits_;
};

class PageMap {
 public:
  static Result<PageMap> open(const std::string& process = "self");

  /// As many as the kernel tells, from the beginning.
  [[nodiscard]] std::vector<Page> read(const Range& range) const;

  /// The stretches of pages that are as asked; none reaches over the range's ends.
  template <typename Wanted>
  [[nodiscard]] std::vector<Range> find(const Range& range, Wanted wanted) const {
    std::vector<Range> found;
    std::uintptr_t at = range.begin;
    for (const Page& page : read(range)) {
      if (wanted(page)) {
        if (!found.empty() && found.back().end == at)
          found.back().end += kPageBytes;
        else
          found.push_back({at, at + kPageBytes});
      }
      at += kPageBytes;
    }
    return found;
  }

 private:
  explicit PageMap(Fd file) : file_(std::move(file)) {}
  Fd file_;
};

}  // namespace relay::zygote
