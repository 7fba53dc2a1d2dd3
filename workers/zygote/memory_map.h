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

struct MemoryRange {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;

  [[nodiscard]] std::size_t bytes() const { return end - begin; }
  [[nodiscard]] void* address() const {
    return reinterpret_cast<void*>(begin);
  }  // NOLINT(performance-no-int-to-ptr): what /proc says is a number
};

struct Area : MemoryRange {
  [[nodiscard]] const MemoryRange& range() const { return *this; }
  bool readable = false;
  bool writable = false;
  bool executable = false;
  bool is_private = false;
  bool has_file = false;
  std::string name;  // of the file, or what the kernel calls it: "[heap]"
};

/// A line of maps: "7f00-7f10 rw-p 00000000 00:00 0   [heap]". Nothing for any other line, such as most of
/// smaps.
std::optional<Area> parse_area(std::string_view line);

Result<std::vector<Area>> read_areas(const std::string& process = "self");

/// One page, as pagemap describes it (Documentation/admin-guide/mm/pagemap.rst).
class Page {
 public:
  explicit Page(std::uint64_t bits = 0) : bits_(bits) {}
  [[nodiscard]] bool is_present() const { return (bits_ >> 63 & 1) != 0; }
  /// In memory or swapped out: not zero by itself.
  [[nodiscard]] bool is_there() const { return bits_ >> 62 != 0; }
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

  /// Calls `use` with each stretch of pages that are as asked, a few hundred pages at a time. Between looking
  /// at them and using them nothing is allocated: they may be pages of the heap.
  template <typename Wanted, typename Use>
  void for_each(const MemoryRange& range, Wanted wanted, Use use) const {
    Page pages[kAtOnce];
    for (MemoryRange rest = range; rest.bytes() > 0;) {
      const std::size_t count = read(rest, pages);
      if (count == 0) return;
      for (std::size_t i = 0; i < count;) {
        const std::size_t begin = i;
        while (i < count && wanted(pages[i])) ++i;
        if (i > begin)
          use(MemoryRange{rest.begin + begin * kPageBytes, rest.begin + i * kPageBytes});
        else
          ++i;
      }
      rest.begin += count * kPageBytes;
    }
  }

  /// The stretches of pages that are as asked; none reaches over the range's ends.
  template <typename Wanted>
  [[nodiscard]] std::vector<MemoryRange> find(const MemoryRange& range, Wanted wanted) const {
    std::vector<MemoryRange> found;
    for_each(range, wanted, [&found](const MemoryRange& stretch) {
      if (!found.empty() && found.back().end == stretch.begin)
        found.back().end = stretch.end;
      else
        found.push_back(stretch);
    });
    return found;
  }

 private:
  static constexpr std::size_t kAtOnce = 512;
  /// How many the kernel told, from the beginning; 0 at the end.
  std::size_t read(const MemoryRange& range, Page (&pages)[kAtOnce]) const;

  explicit PageMap(Fd file) : file_(std::move(file)) {}
  Fd file_;
};

}  // namespace relay::zygote
