#include "shell/ansi_c.h"

#include <cstdint>

namespace relay::shell {
namespace {

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 16;
}

/// At most `most` digits of the base, from `at` on, which moves behind them.
std::uint32_t read_number(std::string_view text, std::size_t& at, int base, int most) {
  std::uint32_t value = 0;
  for (int i = 0; i < most && at < text.size() && digit_of(text[at]) < base; ++i, ++at)
    value = value * static_cast<std::uint32_t>(base) + static_cast<std::uint32_t>(digit_of(text[at]));
  return value;
}

void append_utf8(std::string& out, std::uint32_t code) {
  const auto put = [&](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xC0 | (code >> 6));
  } else if (code < 0x10000) {
    put(0xE0 | (code >> 12));
    put(0x80 | ((code >> 6) & 0x3F));
  } else {
    put(0xF0 | ((code >> 18) & 0x07));
    put(0x80 | ((code >> 12) & 0x3F));
    put(0x80 | ((code >> 6) & 0x3F));
  }
  put(0x80 | (code & 0x3F));
}

char plain_escape(char c) {
  switch (c) {
    case 'a': return '\a';
    case 'b': return '\b';
    case 'e':
    case 'E': return '\x1b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    case 'v': return '\v';
    case '\\':
    case '\'':
    case '"':
    case '?': return c;
    default: return '\0';
  }
}

// at is behind the backslash. False: the text ends with a NUL here.
bool append_escape(std::string& out, std::string_view text, std::size_t& at) {
  const char c = text[at];
  if (digit_of(c) < 8) {
    const std::uint32_t value = read_number(text, at, 8, c == '0' ? 4 : 3);
    if (value == 0) return false;
    out.push_back(static_cast<char>(value));
    return true;
  }
  ++at;
  if (c == 'x' && at < text.size() && text[at] == '{') ++at;
  if (c == 'x' || c == 'u' || c == 'U') {
    const std::size_t before = at;
    const std::uint32_t value = read_number(text, at, 16, c == 'x' ? 2 : c == 'u' ? 4 : 8);
    if (at == before) {
      out.push_back('\\');
      out.push_back(c);
      return true;
    }
    if (value == 0) return false;
    if (c == 'x')
      out.push_back(static_cast<char>(value));
    else
      append_utf8(out, value);
    return true;
  }
  if (c == 'c' && at < text.size()) {
    out.push_back(static_cast<char>(text[at++] & 0x1F));
    return true;
  }
  const char plain = plain_escape(c);
  if (plain == '\0') out.push_back('\\');
  out.push_back(plain == '\0' ? c : plain);
  return true;
}

}  // namespace

std::string decode_ansi_c(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] != '\\' || at + 1 == text.size()) {
      out.push_back(text[at++]);
      continue;
    }
    ++at;
    if (!append_escape(out, text, at)) break;
  }
  return out;
}

}  // namespace relay::shell
