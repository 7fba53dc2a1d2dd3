#include "imports/toml_value.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

#include <fmt/format.h>

namespace relay::imports {
namespace {

constexpr std::size_t kKeyParts = 64;

bool is_bare(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-';
}

void append_utf8(std::string& out, std::uint32_t point) {
  const auto put = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (point < 0x80) return put(point);
  if (point < 0x800) {
    put(0xC0 | (point >> 6));
  } else {
    if (point < 0x10000) {
      put(0xE0 | (point >> 12));
    } else {
      put(0xF0 | (point >> 18));
      put(0x80 | ((point >> 12) & 0x3F));
    }
    put(0x80 | ((point >> 6) & 0x3F));
  }
  put(0x80 | (point & 0x3F));
}

// Digits with _ between them, in one of four bases.
std::optional<std::int64_t> find_integer(std::string word) {
  std::erase(word, '_');
  int base = 10;
  if (word.starts_with("0x")) base = 16;
  if (word.starts_with("0o")) base = 8;
  if (word.starts_with("0b")) base = 2;
  const std::size_t skipped = base != 10 ? 2 : word.starts_with('+') ? 1 : 0;
  std::int64_t number = 0;
  const char* end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data() + skipped, end, number, base);
  return error == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

std::optional<double> find_float(std::string word) {
  std::erase(word, '_');
  if (word.starts_with('+')) word.erase(0, 1);
  double number = 0;
  const char* end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, number);
  return error == std::errc() && stop == end && number - number == 0 ? std::optional(number) : std::nullopt;
}

// 1979-05-27..., 07:32:00
bool is_moment(std::string_view word) {
  return word.size() >= 8 && std::isdigit(static_cast<unsigned char>(word[0])) &&
         (word[4] == '-' || word[2] == ':');
}

bool is_beyond_numbers(std::string_view word) {
  if (word.starts_with('+') || word.starts_with('-')) word.remove_prefix(1);
  return word == "inf" || word == "nan";
}

}  // namespace

std::unexpected<Error> TomlValueReader::wrong(std::string_view what) const {
  const std::size_t line = 1 + static_cast<std::size_t>(std::ranges::count(text_.substr(0, at_), '\n'));
  return fail(invalid(fmt::format("not valid TOML (line {}: {})", line, what)));
}

bool TomlValueReader::take(std::string_view expected) {
  if (!text_.substr(std::min(at_, text_.size())).starts_with(expected)) return false;
  at_ += expected.size();
  return true;
}

void TomlValueReader::skip_space() {
  while (peek() == ' ' || peek() == '\t') ++at_;
}

void TomlValueReader::skip_lines() {
  for (;;) {
    skip_space();
    if (peek() == '#')
      while (!at_end() && peek() != '\n') ++at_;
    if (!take("\n") && !take("\r\n")) return;
  }
}

Result<void> TomlValueReader::end_of_line() {
  skip_space();
  if (at_end() || peek() == '#' || peek() == '\n' || text_.substr(at_).starts_with("\r\n")) return {};
  return wrong("something follows what should be the end of the line");
}

Result<std::vector<std::string>> TomlValueReader::key() {
  std::vector<std::string> parts;
  do {
    skip_space();
    RELAY_TRY(std::string part, key_part());
    parts.push_back(std::move(part));
    skip_space();
  } while (parts.size() < kKeyParts && take("."));
  return parts;
}

Result<std::string> TomlValueReader::key_part() {
  if (peek() == '"') return basic_string();
  if (peek() == '\'') return literal_string();
  const std::size_t begin = at_;
  while (is_bare(peek())) ++at_;
  if (at_ == begin) return wrong("a key is missing");
  return std::string(text_.substr(begin, at_ - begin));
}

Result<json::value> TomlValueReader::value(std::size_t depth) {
  if (depth > limits::kJsonDepth) return wrong("nested too deeply");
  const auto text = [](Result<std::string> read) -> Result<json::value> {
    if (!read) return fail(std::move(read).error());
    return json::value(*read);
  };
  if (take("\"\"\"")) return text(multi_line("\"\"\"", true));
  if (take("'''")) return text(multi_line("'''", false));
  if (peek() == '"') return text(basic_string());
  if (peek() == '\'') return text(literal_string());
  if (take("[")) return array(depth);
  if (take("{")) return inline_table(depth);
  return scalar();
}

Result<std::string> TomlValueReader::literal_string() {
  const std::size_t end = text_.find_first_of("'\n", ++at_);
  if (end == std::string_view::npos || text_[end] == '\n') return wrong("a text does not end");
  std::string out(text_.substr(at_, end - at_));
  at_ = end + 1;
  return out;
}

Result<std::string> TomlValueReader::basic_string() {
  std::string out;
  ++at_;
  while (!take("\"")) {
    if (at_end() || peek() == '\n') return wrong("a text does not end");
    if (take("\\")) {
      RELAY_CHECK(escape(out));
      continue;
    }
    out += text_[at_++];
  }
  return out;
}

// A line end right after the quotes does not count; up to two quotes may stand before the last three.
Result<std::string> TomlValueReader::multi_line(std::string_view quotes, bool has_escapes) {
  std::string out;
  if (!take("\n")) take("\r\n");
  while (!take(quotes)) {
    if (at_end()) return wrong("a text does not end");
    if (has_escapes && take("\\")) {
      RELAY_CHECK(escape(out));
      continue;
    }
    out += text_[at_++];
  }
  for (int i = 0; i < 2 && peek() == quotes.front(); ++i) out += text_[at_++];
  return out;
}

Result<void> TomlValueReader::escape(std::string& out) {
  constexpr std::string_view kEscapes = "btnfre\"\\";
  constexpr std::string_view kMeanings = "\b\t\n\f\r\x1b\"\\";
  const char name = peek();
  if (const std::size_t known = kEscapes.find(name); !at_end() && known != std::string_view::npos) {
    out += kMeanings[known];
    ++at_;
    return {};
  }
  if (name == ' ' || name == '\t' || name == '\n' ||
      name == '\r') {  // a line that goes on: the white space is not meant
    while (!at_end() && std::string_view(" \t\r\n").contains(peek())) ++at_;
    return {};
  }
  const std::size_t digits = name == 'u' ? 4 : name == 'U' ? 8 : 0;
  const std::string_view hex = text_.substr(std::min(at_ + 1, text_.size()), digits);
  std::uint32_t point = 0;
  const auto [stop, error] = std::from_chars(hex.data(), hex.data() + hex.size(), point, 16);
  const bool is_point =
      digits > 0 && hex.size() == digits && error == std::errc() && stop == hex.data() + digits;
  if (!is_point || point > 0x10FFFF || (point >= 0xD800 && point < 0xE000)) return wrong("an unknown escape");
  append_utf8(out, point);
  at_ += 1 + digits;
  return {};
}

Result<json::value> TomlValueReader::array(std::size_t depth) {
  json::array out;
  for (;;) {
    skip_lines();
    if (take("]")) return json::value(std::move(out));
    RELAY_TRY(json::value item, value(depth + 1));
    out.push_back(std::move(item));
    skip_lines();
    if (!take(",") && peek() != ']') return wrong("a list does not go on with , or ]");
  }
}

Result<json::value> TomlValueReader::inline_table(std::size_t depth) {
  json::object out;
  for (;;) {
    skip_lines();
    if (take("}")) return json::value(std::move(out));
    RELAY_TRY(const std::vector<std::string> name, key());
    if (depth + name.size() > limits::kJsonDepth) return wrong("nested too deeply");
    if (!take("=")) return wrong("= is missing");
    skip_space();
    RELAY_TRY(json::value item, value(depth + name.size()));
    RELAY_CHECK(assign(out, name, std::move(item)));
    skip_lines();
    if (!take(",") && peek() != '}') return wrong("a table does not go on with , or }");
  }
}

// Numbers, truth values; dates and times stay text.
Result<json::value> TomlValueReader::scalar() {
  const std::size_t begin = at_;
  while (is_bare(peek()) || (!at_end() && std::string_view("+.:").contains(peek()))) ++at_;
  const std::string word(text_.substr(begin, at_ - begin));
  if (word == "true" || word == "false") return json::value(word == "true");
  if (word.ends_with('_') || word.contains("__"))
    return wrong("a number with a _ that is not between digits");
  if (const auto number = find_integer(word)) return json::value(*number);
  if (const auto number = find_float(word)) return json::value(*number);
  return is_moment(word) || is_beyond_numbers(word) ? Result<json::value>(json::value(word))
                                                    : wrong("a value is missing");
}

Result<void> TomlValueReader::assign(json::object& table, const std::vector<std::string>& key,
                                     json::value value) const {
  json::object* at = &table;
  for (std::size_t i = 0; i + 1 < key.size(); ++i) {
    json::value& next = at->emplace(key[i], json::object()).first->value();
    if (!next.is_object()) return wrong(fmt::format("{} is no table", key[i]));
    at = &next.get_object();
  }
  if (!at->emplace(key.back(), std::move(value)).second)
    return wrong(fmt::format("{} is defined twice", key.back()));
  return {};
}

}  // namespace relay::imports
