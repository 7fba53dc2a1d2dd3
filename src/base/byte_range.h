// The Range header of HTTP (RFC 9110), for one range of bytes. Pure.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

namespace relay {

/// Half open: `end` is the first byte after the range.
struct ByteRange {
  std::uint64_t begin = 0, end = 0;
  bool operator==(const ByteRange&) const = default;
};

/// none: the header is absent, malformed or names several ranges. The whole content is a correct answer to
/// each.
enum class RangeKind : std::uint8_t { none, one, unsatisfiable };

/// The bytes of "bytes=2-5", "bytes=2-" or "bytes=-3" within content of `bytes` bytes.
std::pair<RangeKind, ByteRange> parse_byte_range(std::string_view header, std::uint64_t bytes);

}  // namespace relay
