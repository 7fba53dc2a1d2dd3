#include "base/byte_range.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/bytes.h"

namespace relay {
namespace {

std::optional<std::uint64_t> find_number(std::string_view digits) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

}  // namespace

std::pair<RangeKind, ByteRange> parse_byte_range(std::string_view header, std::uint64_t bytes) {
  constexpr std::string_view unit = "bytes=";
  header = trim_ascii(header);
  if (!header.starts_with(unit) || header.find(',') != std::string_view::npos) return {RangeKind::none, {}};
  const std::string_view spec = trim_ascii(header.substr(unit.size()));
  const std::size_t dash = spec.find('-');
  if (dash == std::string_view::npos) return {RangeKind::none, {}};
  const auto first = find_number(spec.substr(0, dash));
  const auto last = find_number(spec.substr(dash + 1));
  if (dash == 0) {
    if (!last) return {RangeKind::none, {}};
    if (*last == 0 || bytes == 0) return {RangeKind::unsatisfiable, {}};
    return {RangeKind::one, {bytes - std::min(*last, bytes), bytes}};
  }
  if (!first || (!last && dash + 1 != spec.size()) || (last && *last < *first)) return {RangeKind::none, {}};
  if (*first >= bytes) return {RangeKind::unsatisfiable, {}};
  return {RangeKind::one, {*first, last ? std::min(*last, bytes - 1) + 1 : bytes}};
}

}  // namespace relay
