#include "secrets/spellings.h"

#include <set>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/json.h"
#include "base/limits.h"

namespace relay::secrets {
namespace {

using Spellings = std::set<std::string, std::less<>>;

void add(Spellings& out, std::string spelling) {
  if (spelling.size() >= limits::kSecretBytesMin) out.insert(std::move(spelling));
}

std::string in_json(std::string_view value) {
  const std::string quoted = json::quote(value);
  return quoted.substr(1, quoted.size() - 2);
}

void replace_each(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

// Of Go, which escapes what HTML could misread.
std::string in_html_safe_json(std::string_view value) {
  std::string text = in_json(value);
  replace_each(text, "<", "\\u003c");
  replace_each(text, ">", "\\u003e");
  replace_each(text, "&", "\\u0026");
  return text;
}

// Of PHP, which escapes slashes.
std::string in_slashed_json(std::string_view value) {
  std::string text = in_json(value);
  replace_each(text, "/", "\\/");
  return text;
}

// The code point that begins at `at`, which moves past it. Precondition: valid UTF-8.
char32_t take_code_point(std::string_view text, std::size_t& at) {
  const auto lead = static_cast<unsigned char>(text[at++]);
  if (lead < 0x80) return lead;
  const int more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
  char32_t point = lead & (0x3FU >> more);
  for (int i = 0; i < more; ++i) point = point << 6U | (static_cast<unsigned char>(text[at++]) & 0x3FU);
  return point;
}

// Of Python, which writes ASCII only.
std::string in_ascii_json(std::string_view value) {
  const std::string text = to_valid_utf8(in_json(value));
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const char32_t point = take_code_point(text, at);
    if (point < 0x80)
      out += static_cast<char>(point);
    else if (point < 0x10000)
      out += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(point));
    else
      out +=
          fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + ((static_cast<std::uint32_t>(point) - 0x10000) >> 10U),
                      0xDC00 + (static_cast<std::uint32_t>(point) & 0x3FFU));
  }
  return out;
}

enum class Hex : unsigned char { upper, lower };

// `kept` stays as it is beside letters and digits.
std::string in_url(std::string_view value, std::string_view kept, Hex hex) {
  std::string text;
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x80 && std::isalnum(byte)) || kept.find(c) != std::string_view::npos)
      text += c;
    else
      text += hex == Hex::upper ? fmt::format("%{:02X}", byte) : fmt::format("%{:02x}", byte);
  }
  return text;
}

void add_urls(Spellings& out, std::string_view value) {
  for (const Hex hex : {Hex::upper, Hex::lower}) {
    add(out, in_url(value, "-._~", hex));
    add(out, in_url(value, "-._~!'()*", hex));  // encodeURIComponent
    std::string form = in_url(value, "-._*", hex);
    replace_each(form, "%20", "+");
    add(out, std::move(form));
  }
}

// `before` bytes of the same group of three come first, and they are not ours.
std::string_view own_base64(std::string_view encoded, std::size_t before, std::size_t bytes) {
  const std::size_t first = before == 0 ? 0 : before + 1;  // 1 byte touches 2 characters, 2 bytes touch 3
  const std::size_t last = (before + bytes) * 8 / 6;       // whole characters
  return encoded.substr(first, last - first);
}

void add_base64(Spellings& out, std::string_view value) {
  for (std::size_t before = 0; before < 3; ++before) {
    const std::string padded = std::string(before, '\0') + std::string(value);
    add(out, std::string(own_base64(to_base64(padded), before, value.size())));
    add(out, std::string(own_base64(to_base64url(padded), before, value.size())));
  }
}

void add_forms(Spellings& out, std::string_view value) {
  add(out, std::string(value));
  add(out, in_json(value));
  add(out, in_json(in_json(value)));  // a JSON text inside of a JSON text
  add(out, in_html_safe_json(value));
  add(out, in_slashed_json(value));
  add(out, in_ascii_json(value));
  add_urls(out, value);
  add_base64(out, value);
}

}  // namespace

std::vector<std::string> spellings_of(std::string_view value) {
  if (value.size() < limits::kSecretBytesMin) return {};
  Spellings out;
  add_forms(out, value);
  // Keys of several lines are shown line by line.
  for (std::size_t begin = 0; begin < value.size();) {
    const std::size_t end = std::min(value.find('\n', begin), value.size());
    const std::string_view line = trim_ascii(value.substr(begin, end - begin));
    // "-----BEGIN PRIVATE KEY-----" tells nobody the key.
    const bool is_frame = line.starts_with("-----");
    if (line.size() != value.size() && line.size() >= limits::kSecretBytesMin && !is_frame)
      add_forms(out, line);
    begin = end + 1;
  }
  return {out.begin(), out.end()};
}

}  // namespace relay::secrets
