// Classes of bytes that the two halves of ScriptParser share.
#pragma once

#include <string_view>

namespace relay::shell {

inline bool is_blank(char c) {
  return c == ' ' || c == '\t';
}
inline bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
inline bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
inline bool is_name_char(char c) {
  return is_name_start(c) || is_digit(c);
}
/// Ends a word unless it is quoted.
inline bool is_meta(char c) {
  return is_blank(c) || std::string_view("\n;&|<>()").find(c) != std::string_view::npos;
}

}  // namespace relay::shell
