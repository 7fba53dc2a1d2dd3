#include "search/utf16.h"

namespace relay::search {
namespace {

void append_utf8(std::string& out, char32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += {static_cast<char>(0xC0 | c >> 6), static_cast<char>(0x80 | (c & 0x3F))};
  } else if (c < 0x10000) {
    out += {static_cast<char>(0xE0 | c >> 12), static_cast<char>(0x80 | (c >> 6 & 0x3F)),
            static_cast<char>(0x80 | (c & 0x3F))};
  } else {
    out += {static_cast<char>(0xF0 | c >> 18), static_cast<char>(0x80 | (c >> 12 & 0x3F)),
            static_cast<char>(0x80 | (c >> 6 & 0x3F)), static_cast<char>(0x80 | (c & 0x3F))};
  }
}

bool is_high(char32_t unit) {
  return unit >= 0xD800 && unit < 0xDC00;
}
bool is_low(char32_t unit) {
  return unit >= 0xDC00 && unit < 0xE000;
}

}  // namespace

std::string utf16_to_utf8(std::string_view text) {
  constexpr char32_t kReplacement = 0xFFFD;
  const bool big = text.front() == '\xFE';
  const auto unit = [&](std::size_t at) -> char32_t {
    const auto low = static_cast<unsigned char>(text[at + (big ? 1 : 0)]);
    const auto high = static_cast<unsigned char>(text[at + (big ? 0 : 1)]);
    return static_cast<char32_t>(high << 8 | low);
  };
  std::string out;
  std::size_t at = 2;
  for (; at + 1 < text.size(); at += 2) {
    const char32_t first = unit(at);
    const char32_t second = at + 3 < text.size() ? unit(at + 2) : 0;
    if (is_high(first) && is_low(second)) {
      append_utf8(out, 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00));
      at += 2;
    } else {
      append_utf8(out, is_high(first) || is_low(first) ? kReplacement : first);
    }
  }
  if (at < text.size()) append_utf8(out, kReplacement);
  return out;
}

}  // namespace relay::search
