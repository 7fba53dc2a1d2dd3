#include "imports/document.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "base/bytes.h"

namespace relay::imports {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::size_t end_of_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at)
    if (text[at] == '\\') ++at;
  return std::min(at + 1, text.size());
}

// Comments become blanks. Boost.JSON reads them too, but takes "**/" for no end of one. A comment that does
// not end stays, and is an error of the parser's.
std::string without_comments(std::string_view text) {
  std::string out(text);
  for (std::size_t at = 0; at < text.size();) {
    const bool is_line = text.substr(at).starts_with("//");
    if (text[at] == '"') {
      at = end_of_string(text, at);
    } else if (is_line || text.substr(at).starts_with("/*")) {
      const std::size_t found = text.find(is_line ? "\n" : "*/", at + 2);
      if (found == std::string_view::npos && !is_line) break;
      const std::size_t end = found == std::string_view::npos ? text.size() : found + (is_line ? 0 : 2);
      for (; at < end; ++at)
        if (out[at] != '\n') out[at] = ' ';
    } else {
      ++at;
    }
  }
  return out;
}

Result<void> check_text(std::string_view text) {
  if (text.size() > limits::kImportFileBytes)
    return fail(too_large(fmt::format("larger than {} bytes", limits::kImportFileBytes)));
  if (!is_valid_utf8(text)) return fail(invalid("not valid UTF-8"));
  return {};
}

// "line 3, column 14", as editors count.
std::string place_of(std::string_view text, std::size_t at) {
  const std::string_view before = text.substr(0, at);
  const std::string_view line = before.substr(before.rfind('\n') + 1);
  const auto begins_character = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; };
  return fmt::format("line {}, column {}", 1 + std::ranges::count(before, '\n'),
                     1 + std::ranges::count_if(line, begins_character));
}

}  // namespace

Result<json::object> parse_jsonc(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  RELAY_CHECK(check_text(text));
  boost::json::parse_options options;
  options.allow_trailing_commas = true;
  options.max_depth = limits::kJsonDepth;
  boost::system::error_code error;
  boost::json::stream_parser parser({}, options);
  const std::string plain = without_comments(text);
  const std::size_t read = parser.write_some(plain, error);
  if (!error && read < plain.size()) error = boost::json::error::extra_data;
  if (!error) parser.finish(error);
  if (error)
    return fail(invalid(fmt::format("not valid JSON: {} at {}", error.message(), place_of(text, read))));
  json::value parsed = parser.release();
  if (!parsed.is_object()) return fail(invalid("the top level is not an object"));
  return std::move(parsed.get_object());
}

Result<json::object> parse_document(std::string_view text, DocumentFormat format) {
  switch (format) {
    case DocumentFormat::json: return parse_jsonc(text);
    case DocumentFormat::toml: RELAY_CHECK(check_text(text)); return parse_toml(text);
  }
  return json::object();
}

}  // namespace relay::imports
