#include "codemode/stub_text.h"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "base/bytes.h"

namespace relay::codemode {
namespace {

struct Decoded {
  std::uint32_t point;
  std::size_t bytes;
};

// Precondition: valid UTF-8.
Decoded decode(std::string_view text) {
  const auto at = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
  if (at(0) < 0x80) return {at(0), 1};
  if (at(0) < 0xE0) return {(at(0) & 0x1F) << 6 | (at(1) & 0x3F), 2};
  if (at(0) < 0xF0) return {(at(0) & 0x0F) << 12 | (at(1) & 0x3F) << 6 | (at(2) & 0x3F), 3};
  return {(at(0) & 0x07) << 18 | (at(1) & 0x3F) << 12 | (at(2) & 0x3F) << 6 | (at(3) & 0x3F), 4};
}

// Controls, line separators, marks that turn the direction of text, and characters without width.
bool is_hidden(std::uint32_t point) {
  if (point < 0x20 || (point >= 0x7F && point < 0xA0)) return true;
  if (point >= 0x200B && point <= 0x200F) return true;
  if (point >= 0x2028 && point <= 0x202E) return true;
  if (point >= 0x2060 && point <= 0x206F) return true;
  return point == 0xFEFF || point == 0x061C || (point >= 0xE0000 && point <= 0xE007F);
}

void replace_all(std::string& text, std::string_view what, std::string_view by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) text.replace(at, what.size(), by);
}

}  // namespace

std::string indented(std::string_view text, std::string_view before) {
  std::string out;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    out.append(before).append(line);
    while (!out.empty() && out.back() == ' ') out.pop_back();
    out += '\n';
    begin = end + 1;
  }
  return out;
}

std::string printable(std::string_view text, std::size_t max_bytes) {
  const std::string valid = to_valid_utf8(text);
  const bool cut = valid.size() > max_bytes;
  std::string out;
  for (std::string_view rest = utf8_prefix(valid, max_bytes); !rest.empty();) {
    const auto [point, bytes] = decode(rest);
    if (point == '\n') out += '\n';
    else if (is_hidden(point)) out += ' ';
    else out.append(rest.substr(0, bytes));
    rest.remove_prefix(bytes);
  }
  std::string trimmed(trim_ascii(out));
  return cut ? trimmed + " …" : trimmed;
}

std::string first_sentence(std::string_view text, std::size_t max_bytes) {
  std::string clean = printable(text, limits::kStubTextBytes);
  clean.resize(std::min(clean.find("\n\n"), clean.size()));
  std::ranges::replace(clean, '\n', ' ');
  const std::size_t stop = clean.find(". ");
  if (stop != std::string::npos) clean.resize(stop + 1);
  if (clean.size() <= max_bytes) return clean;
  return std::string(utf8_prefix(clean, max_bytes)) + "…";
}

std::string jsdoc(std::string_view text, std::string_view indent) {
  std::string clean = printable(text, limits::kStubTextBytes);
  if (clean.empty()) return {};
  replace_all(clean, "*/", "* /");
  if (clean.find('\n') == std::string::npos) return fmt::format("{}/** {} */\n", indent, clean);
  return fmt::format("{0}/**\n{1}{0} */\n", indent, indented(clean, fmt::format("{} * ", indent)));
}

std::string docstring(std::string_view text, std::string_view indent) {
  std::string clean = printable(text, 2 * limits::kStubTextBytes);
  if (clean.empty()) return {};
  replace_all(clean, "\\", "\\\\");
  replace_all(clean, "\"\"\"", "'''");
  if (clean.back() == '"') clean += ' ';
  if (clean.find('\n') == std::string::npos) return fmt::format("{}\"\"\"{}\"\"\"\n", indent, clean);
  return fmt::format("{0}\"\"\"\n{1}{0}\"\"\"\n", indent, indented(clean, indent));
}

std::string markdown(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("\\`*_[]<>#|").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string string_literal(std::string_view text) {
  const std::string quoted = json::quote(to_valid_utf8(text));
  std::string out;
  for (std::string_view rest = quoted; !rest.empty();) {
    const auto [point, bytes] = decode(rest);
    if (point < 0x80 || !is_hidden(point)) out.append(rest.substr(0, bytes));
    else if (point < 0x10000) out += fmt::format("\\u{:04x}", point);
    else out += fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + ((point - 0x10000) >> 10), 0xDC00 + ((point - 0x10000) & 0x3FF));
    rest.remove_prefix(bytes);
  }
  return out;
}

std::string typescript_literal(const json::value& value) {
  return value.is_string() ? string_literal(json::view(value.get_string())) : json::write(value);
}

std::string python_literal(const json::value& value) {
  if (value.is_null()) return "None";
  if (const bool* truth = value.if_bool()) return *truth ? "True" : "False";
  return typescript_literal(value);
}

}  // namespace relay::codemode
