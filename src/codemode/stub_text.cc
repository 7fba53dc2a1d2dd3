#include "codemode/stub_text.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/printable.h"

namespace relay::codemode {
namespace {

void replace_all(std::string& text, std::string_view what, std::string_view by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
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
  std::string trimmed(trim_ascii(relay::printable(utf8_prefix(valid, max_bytes), ' ')));
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
    const auto [point, bytes] = first_character(rest);
    if (point < 0x80 || !is_hidden(point))
      out.append(rest.substr(0, bytes));
    else if (point < 0x10000)
      out += fmt::format("\\u{:04x}", point);
    else
      out += fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + ((point - 0x10000) >> 10),
                         0xDC00 + ((point - 0x10000) & 0x3FF));
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
