#include "memory_map.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>

namespace relay::zygote {
namespace {

std::optional<std::uintptr_t> take_address(std::string_view& text, char end) {
  std::uintptr_t address = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), address, 16);
  if (error != std::errc() || rest == text.data() + text.size() || *rest != end) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(rest - text.data()) + 1);
  return address;
}

std::string_view take_word(std::string_view& text) {
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(word.size());
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return word;
}

}  // namespace

std::optional<Area> parse_area(std::string_view line) {
  const auto begin = take_address(line, '-');
  const auto end = begin ? take_address(line, ' ') : std::nullopt;
  const std::string_view mode = take_word(line);
  if (!end || mode.size() != 4) return std::nullopt;
  take_word(line);  // offset
  take_word(line);  // device
  Area area;
  area.begin = *begin;
  area.end = *end;
  area.readable = mode[0] == 'r';
  area.writable = mode[1] == 'w';
  area.executable = mode[2] == 'x';
  area.is_private = mode[3] == 'p';
  area.has_file = take_word(line) != "0";
  area.name = line;
  return area;
}

Result<std::vector<Area>> read_areas(const std::string& process) {
  std::ifstream maps("/proc/" + process + "/maps");
  if (!maps) return fail(from_errno(errno, "read /proc/" + process + "/maps"));
  std::vector<Area> areas;
  for (std::string line; std::getline(maps, line);)
    if (auto area = parse_area(line)) areas.push_back(std::move(*area));
  return areas;
}

Result<PageMap> PageMap::open(const std::string& process) {
  Fd file(::open(("/proc/" + process + "/pagemap").c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return fail(from_errno(errno, "open /proc/" + process + "/pagemap"));
  return PageMap(std::move(file));
}

std::size_t PageMap::read(const MemoryRange& range, Page (&pages)[kAtOnce]) const {
  static_assert(sizeof(Page) == sizeof(std::uint64_t));
  const std::size_t wanted = std::min(range.bytes() / kPageBytes, kAtOnce);
  const auto offset = static_cast<off_t>(range.begin / kPageBytes * sizeof(Page));
  const ssize_t got = ::pread(file_.get(), static_cast<void*>(pages), wanted * sizeof(Page), offset);
  return got > 0 ? static_cast<std::size_t>(got) / sizeof(Page) : 0;
}

}  // namespace relay::zygote
