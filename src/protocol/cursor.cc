#include "protocol/cursor.h"

#include <charconv>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/digest.h"

namespace relay::protocol {
namespace {

constexpr std::size_t kMacBytes = 12;  // forging a cursor gains nothing but an offset; this stops mix-ups

std::string mac_of(std::string_view key, std::string_view list, std::string_view offset) {
  const Sha256 mac = hmac_sha256(key, fmt::format("cursor\n{}\n{}", list, offset));
  return std::string(as_text(mac).substr(0, kMacBytes));
}

}  // namespace

std::string make_cursor(std::string_view key, std::string_view list, std::size_t offset) {
  const std::string digits = std::to_string(offset);
  return to_base64url(mac_of(key, list, digits) + digits);
}

Result<std::size_t> parse_cursor(std::string_view key, std::string_view list, std::string_view cursor) {
  const Error refused = invalid("the cursor is not one of this list: start again without it");
  const auto bytes = find_base64url(cursor);
  if (!bytes || bytes->size() <= kMacBytes || bytes->size() > kMacBytes + 20) return fail(refused);
  const std::string_view digits = std::string_view(*bytes).substr(kMacBytes);
  if (!equal_in_constant_time(std::string_view(*bytes).substr(0, kMacBytes), mac_of(key, list, digits)))
    return fail(refused);
  std::size_t offset = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), offset);
  if (parsed.ec != std::errc() || parsed.ptr != digits.data() + digits.size()) return fail(refused);
  return offset;
}

}  // namespace relay::protocol
