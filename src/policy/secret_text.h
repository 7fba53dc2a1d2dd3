// Byte classes and bounded look-ups that the rules for secrets share. Only secret_*.cc include this.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "policy/secret_shapes.h"

namespace relay::policy::secret_text {

inline constexpr std::size_t kNone = std::string_view::npos;

/// Bits of one table, so that a class test is one load.
enum Class : std::uint8_t {
  space = 1,
  alnum = 2,
  token = 4,  // alnum, `_` and `-`
  quote = 8,
  line_break = 16,
  trigger = 32,  // bytes that wake a rule of the scanner
  dotted = 64,   // token and `.`
  pem = 128,     // what the body of a PEM block is made of, also when it was quoted once more
};

constexpr std::array<std::uint8_t, 256> make_class_table() {
  std::array<std::uint8_t, 256> table{};
  const auto add = [&](std::string_view chars, std::uint8_t bits) {
    for (const char c : chars) table[static_cast<unsigned char>(c)] |= bits;
  };
  add("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", alnum | token | dotted | pem);
  add(" \t\r\n\f\v", space | pem);
  add("\r\n", line_break);
  add("_-", token | dotted);
  add(".", dotted);
  add("\"'`", quote);
  add("+/=\\:,", pem);
  add(":=-_.>AbBS", trigger);
  return table;
}
inline constexpr std::array<std::uint8_t, 256> kClasses = make_class_table();

inline bool is(char c, std::uint8_t bits) {
  return (kClasses[static_cast<unsigned char>(c)] & bits) != 0;
}
inline bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
inline bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
inline bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f');
}
inline bool is_word(char c) {
  return is(c, alnum) || c == '_';
}
inline char lower(char c) {
  return is_upper(c) ? static_cast<char>(c + 32) : c;
}

inline std::size_t run_end(std::string_view text, std::size_t from, std::uint8_t bits) {
  while (from < text.size() && is(text[from], bits)) ++from;
  return from;
}
inline std::size_t run_end_except(std::string_view text, std::size_t from, std::uint8_t bits) {
  while (from < text.size() && !is(text[from], bits)) ++from;
  return from;
}
inline std::size_t line_end(std::string_view text, std::size_t from) {
  return run_end_except(text, from, line_break);
}

inline bool has_at(std::string_view text, std::size_t at, std::string_view word) {
  return at <= text.size() && text.substr(at, word.size()) == word;
}
inline bool has_ignoring_case(std::string_view text, std::size_t at, std::string_view lower_word) {
  if (at > text.size() || text.size() - at < lower_word.size()) return false;
  for (std::size_t i = 0; i < lower_word.size(); ++i)
    if (lower(text[at + i]) != lower_word[i]) return false;
  return true;
}
inline bool ends_with_ignoring_case(std::string_view text, std::string_view lower_word) {
  return text.size() >= lower_word.size() &&
         has_ignoring_case(text, text.size() - lower_word.size(), lower_word);
}

inline std::size_t skip_spaces_back(std::string_view text, std::size_t end) {
  while (end > 0 && is(text[end - 1], space)) --end;
  return end;
}
inline std::size_t skip_quotes_back(std::string_view text, std::size_t end) {
  while (end > 0 && (is(text[end - 1], quote) || text[end - 1] == '\\')) --end;
  return end;
}
inline std::size_t skip_escapes_back(std::string_view text, std::size_t end) {
  while (end > 0 && text[end - 1] == '\\') --end;
  return end;
}

/// A letter before a prefix normally means that it is part of a longer word ("task-..."), unless the letter
/// belongs to an escape such as \n in text that was quoted once more.
inline bool at_boundary(std::string_view text, std::size_t begin) {
  if (begin == 0 || !is_word(text[begin - 1])) return true;
  return begin >= 2 && text[begin - 2] == '\\';
}

/// Nothing for an empty stretch: there is no secret to hide.
inline std::optional<SecretSpan> span(std::size_t begin, std::size_t end) {
  if (begin >= end) return std::nullopt;
  return SecretSpan{begin, end};
}

}  // namespace relay::policy::secret_text
