#include "policy/punycode.h"

#include <cstdint>
#include <vector>

#include "base/bytes.h"

namespace relay::policy {
namespace {

constexpr std::uint32_t kBase = 36;
constexpr std::uint32_t kTMin = 1;
constexpr std::uint32_t kTMax = 26;
constexpr std::size_t kLabelChars = 63;

std::vector<char32_t> decode(std::string_view utf8) {
  std::vector<char32_t> out;
  for (std::size_t i = 0; i < utf8.size();) {
    const auto lead = static_cast<unsigned char>(utf8[i]);
    const std::size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    char32_t c = length == 1 ? lead : lead & (0xffU >> (length + 1));
    for (std::size_t k = 1; k < length; ++k) c = c << 6U | (static_cast<unsigned char>(utf8[i + k]) & 0x3fU);
    out.push_back(c);
    i += length;
  }
  return out;
}

bool is_invisible(char32_t c) {
  return c <= 0x20 || c == 0x7f || (c >= 0x80 && c <= 0xa0) || c == 0xad || c == 0x34f || c == 0x61c ||
         (c >= 0x115f && c <= 0x1160) || (c >= 0x17b4 && c <= 0x17b5) || (c >= 0x180b && c <= 0x180f) ||
         (c >= 0x2000 && c <= 0x200f) || (c >= 0x2028 && c <= 0x202f) || (c >= 0x205f && c <= 0x206f) ||
         c == 0x3000 || (c >= 0xfe00 && c <= 0xfe0f) || c == 0xfeff || (c >= 0xfff0 && c <= 0xffff) ||
         c >= 0xe0000;
}

// Enough of the mapping that browsers do for hosts that people type; both sides of every comparison pass
// through it.
char32_t map_char(char32_t c) {
  if (c == 0x3002 || c == 0xff0e || c == 0xff61) return '.';
  if (c >= 0xff01 && c <= 0xff5e) c -= 0xfee0;
  if (c >= 'A' && c <= 'Z') return c + 32;
  if ((c >= 0xc0 && c <= 0xde && c != 0xd7) || (c >= 0x391 && c <= 0x3a9) || (c >= 0x410 && c <= 0x42f))
    return c + 32;
  if (c >= 0x400 && c <= 0x40f) return c + 80;
  if (c >= 0x100 && c <= 0x137 && c % 2 == 0) return c + 1;
  if (c >= 0x14a && c <= 0x177 && c % 2 == 0) return c + 1;
  if (c >= 0x139 && c <= 0x148 && c % 2 == 1) return c + 1;
  return c;
}

std::uint32_t adapt(std::uint32_t delta, std::uint32_t points, bool first) {
  delta = first ? delta / 700 : delta / 2;
  delta += delta / points;
  std::uint32_t k = 0;
  for (; delta > ((kBase - kTMin) * kTMax) / 2; k += kBase) delta /= kBase - kTMin;
  return k + (kBase - kTMin + 1) * delta / (delta + 38);
}

char digit(std::uint32_t value) {
  return static_cast<char>(value < 26 ? 'a' + value : '0' + (value - 26));
}

void append_delta(std::string& out, std::uint32_t delta, std::uint32_t bias) {
  std::uint32_t q = delta;
  for (std::uint32_t k = kBase;; k += kBase) {
    const std::uint32_t t = k <= bias ? kTMin : k >= bias + kTMax ? kTMax : k - bias;
    if (q < t) break;
    out += digit(t + (q - t) % (kBase - t));
    q = (q - t) / (kBase - t);
  }
  out += digit(q);
}

std::string encode(const std::vector<char32_t>& label) {
  std::string out;
  for (const char32_t c : label)
    if (c < 0x80) out += static_cast<char>(c);
  if (out.size() == label.size()) return out;
  auto handled = static_cast<std::uint32_t>(out.size());
  const std::uint32_t basic = handled;
  if (basic > 0) out += '-';
  std::uint32_t n = 0x80;
  std::uint32_t delta = 0;
  std::uint32_t bias = 72;
  while (handled < label.size()) {
    char32_t next = 0x110000;
    for (const char32_t c : label)
      if (c >= n && c < next) next = c;
    delta += (next - n) * (handled + 1);
    n = next;
    for (const char32_t c : label) {
      if (c < n) ++delta;
      if (c != n) continue;
      append_delta(out, delta, bias);
      bias = adapt(delta, handled + 1, handled == basic);
      delta = 0;
      ++handled;
    }
    ++delta;
    ++n;
  }
  return "xn--" + out;
}

}  // namespace

Result<std::string> to_ascii_host(std::string_view utf8) {
  if (!is_valid_utf8(utf8)) return fail(invalid("the host is not valid UTF-8"));
  std::string out;
  std::vector<char32_t> label;
  std::vector<char32_t> text = decode(utf8);
  text.push_back('.');
  for (const char32_t raw : text) {
    const char32_t c = map_char(raw);
    if (is_invisible(c)) return fail(invalid("the host has a blank or an invisible character in it"));
    if (c != '.') {
      label.push_back(c);
      if (label.size() > kLabelChars) return fail(invalid("a label of the host is too long"));
      continue;
    }
    out += encode(label);
    out += '.';
    label.clear();
  }
  out.pop_back();
  return out;
}

}  // namespace relay::policy
