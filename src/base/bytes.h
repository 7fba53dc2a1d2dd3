// Bytes and text: hex, base64, UTF-8, ASCII case, edit distance. Pure functions, safe from any thread;
// nothing allocates more than its result. A `find_` function gives nothing for malformed input. Sizes are the
// caller's to bound: the time is linear in the input but for edit_distance, which multiplies both lengths.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace relay {

inline std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
inline std::span<const std::byte> as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

std::string to_hex(std::span<const std::byte> bytes);

std::string to_base64(std::string_view bytes);
std::string to_base64url(std::string_view bytes);  // no padding
/// Strict: right alphabet, right padding, no white space.
std::optional<std::string> find_base64(std::string_view text);
std::optional<std::string> find_base64url(std::string_view text);

bool is_valid_utf8(std::string_view text);
/// The longest prefix of at most max_bytes that does not end inside a character.
std::string_view utf8_prefix(std::string_view text, std::size_t max_bytes);
/// The longest suffix of at most max_bytes that does not begin inside a character.
std::string_view utf8_suffix(std::string_view text, std::size_t max_bytes);
/// Every invalid sequence becomes U+FFFD.
std::string to_valid_utf8(std::string_view text);

/// ASCII only: header names, hosts.
std::string to_lower_ascii(std::string_view text);
bool equal_ignoring_case(std::string_view a, std::string_view b);
std::string_view trim_ascii(std::string_view text);

/// Takes the same time wherever the first difference is. Lengths are not secret.
bool equal_in_constant_time(std::string_view a, std::string_view b);

/// How many single-character edits turn a into b: for "did you mean".
std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace relay
