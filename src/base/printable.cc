#include "base/printable.h"

#include "base/bytes.h"

namespace relay {

Character first_character(std::string_view text) {
  const auto at = [&](std::size_t i) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i]));
  };
  if (at(0) < 0x80) return {at(0), 1};
  if (at(0) < 0xE0) return {(at(0) & 0x1F) << 6 | (at(1) & 0x3F), 2};
  if (at(0) < 0xF0) return {(at(0) & 0x0F) << 12 | (at(1) & 0x3F) << 6 | (at(2) & 0x3F), 3};
  return {(at(0) & 0x07) << 18 | (at(1) & 0x3F) << 12 | (at(2) & 0x3F) << 6 | (at(3) & 0x3F), 4};
}

bool is_hidden(std::uint32_t point) {
  if (point < 0x20 || (point >= 0x7F && point < 0xA0)) return true;
  if (point >= 0x200B && point <= 0x200F) return true;
  if (point >= 0x2028 && point <= 0x202E) return true;
  if (point >= 0x2060 && point <= 0x206F) return true;
  return point == 0xFEFF || point == 0x061C || (point >= 0xE0000 && point <= 0xE007F);
}

std::string printable(std::string_view text, char instead) {
  const std::string valid = to_valid_utf8(text);
  std::string out;
  for (std::string_view rest = valid; !rest.empty();) {
    const auto [point, bytes] = first_character(rest);
    if (point == '\n' || !is_hidden(point))
      out.append(rest.substr(0, bytes));
    else
      out += point == '\t' ? ' ' : instead;
    rest.remove_prefix(bytes);
  }
  return out;
}

namespace {

bool is_invisible(std::uint32_t point) {
  if (point == '\n' || point == '\t') return false;
  if (is_hidden(point) || point == 0xAD || point == 0x034F || point == 0x180E) return true;
  if (point == 0x115F || point == 0x1160 || point == 0x17B4 || point == 0x17B5) return true;
  if (point == 0x3164 || point == 0xFFA0 || (point >= 0xFFF9 && point <= 0xFFFB)) return true;
  if (point >= 0x180B && point <= 0x180F) return true;
  return (point >= 0xFE00 && point <= 0xFE0F) || (point >= 0xE0080 && point <= 0xE0FFF);
}

}  // namespace

std::string visible_text(std::string_view text) {
  const std::string valid = to_valid_utf8(text);
  std::string out;
  for (std::string_view rest = valid; !rest.empty();) {
    const auto [point, bytes] = first_character(rest);
    if (!is_invisible(point)) out.append(rest.substr(0, bytes));
    rest.remove_prefix(bytes);
  }
  return out;
}

bool has_invisible(std::string_view text) {
  return visible_text(text) != text;
}

}  // namespace relay
