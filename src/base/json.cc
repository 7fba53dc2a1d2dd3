#include "base/json.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>

#include <fmt/format.h>

namespace relay::json {
namespace {

template <class Integer>
void append_integer(std::string& out, Integer number) {
  char digits[std::numeric_limits<Integer>::digits10 + 2];  // the last digit and a sign
  const char* end = std::to_chars(digits, std::end(digits), number).ptr;
  out.append(digits, static_cast<std::size_t>(end - digits));
}

void append_number(std::string& out, double number) {
  if (!std::isfinite(number))
    out += "null";  // JSON has no such number; JavaScript writes the same
  else
    fmt::format_to(std::back_inserter(out), "{}", number);
}

// Everything but what has members.
void append_scalar(std::string& out, const value& item) {
  switch (item.kind()) {
    case boost::json::kind::string: return append_quoted(out, view(item.get_string()));
    case boost::json::kind::int64: return append_integer(out, item.get_int64());
    case boost::json::kind::uint64: return append_integer(out, item.get_uint64());
    case boost::json::kind::double_: return append_number(out, item.get_double());
    case boost::json::kind::bool_: out += item.get_bool() ? "true" : "false"; return;
    default: out += "null"; return;
  }
}

std::string_view view_key(const boost::json::key_value_pair& member) {
  return {member.key().data(), member.key().size()};
}

void write_to(std::string& out, const value& item);

void write_object_to(std::string& out, const object& members) {
  out += '{';
  for (const auto& member : members) {
    if (&member != &*members.begin()) out += ',';
    append_quoted(out, view_key(member));
    out += ':';
    write_to(out, member.value());
  }
  out += '}';
}

void write_to(std::string& out, const value& item) {
  if (const object* members = item.if_object()) return write_object_to(out, *members);
  const array* const items = item.if_array();
  if (!items) return append_scalar(out, item);
  out += '[';
  for (const value& element : *items) {
    if (&element != &items->front()) out += ',';
    write_to(out, element);
  }
  out += ']';
}

void write_pretty_to(std::string& out, const value& item, int depth) {
  const auto indent = [&](int levels) { out.append(static_cast<std::size_t>(levels) * 2, ' '); };
  if (const object* members = item.if_object(); members && !members->empty()) {
    out += "{\n";
    for (const auto& member : *members) {
      if (&member != &*members->begin()) out += ",\n";
      indent(depth + 1);
      append_quoted(out, view_key(member));
      out += ": ";
      write_pretty_to(out, member.value(), depth + 1);
    }
    out += '\n';
    indent(depth);
    out += '}';
  } else if (const array* items = item.if_array(); items && !items->empty()) {
    out += "[\n";
    for (const value& element : *items) {
      if (&element != &items->front()) out += ",\n";
      indent(depth + 1);
      write_pretty_to(out, element, depth + 1);
    }
    out += '\n';
    indent(depth);
    out += ']';
  } else {
    write_to(out, item);
  }
}

void write_canonical_to(std::string& out, const value& item) {
  if (const object* members = item.if_object()) {
    std::vector<const boost::json::key_value_pair*> sorted;
    sorted.reserve(members->size());
    for (const auto& member : *members) sorted.push_back(&member);
    std::ranges::sort(sorted, {}, [](const auto* member) { return view_key(*member); });
    out += '{';
    for (const auto* member : sorted) {
      if (out.back() != '{') out += ',';
      append_quoted(out, view_key(*member));
      out += ':';
      write_canonical_to(out, member->value());
    }
    out += '}';
  } else if (const array* items = item.if_array()) {
    out += '[';
    for (const value& element : *items) {
      if (&element != &items->front()) out += ',';
      write_canonical_to(out, element);
    }
    out += ']';
  } else {
    append_scalar(out, item);
  }
}

constexpr bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

// The high bit of each byte that a JSON string cannot hold as it is: a control character, a quote, a
// backslash. A byte right above such a byte may be marked too, so what counts is the lowest mark.
constexpr std::uint64_t special_bytes(std::uint64_t eight) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  constexpr auto zero_bytes = [](std::uint64_t word) { return (word - kOnes) & ~word; };
  const std::uint64_t below_space = (eight - kOnes * 0x20) & ~eight;
  return (below_space | zero_bytes(eight ^ (kOnes * '"')) | zero_bytes(eight ^ (kOnes * '\\'))) &
         (kOnes << 7);
}

// Writes the escape of a byte that special_bytes marks, and gives the end of it.
char* write_escape(char* to, char c) {
  constexpr std::string_view kShort = "\b\t\n\f\r\"\\";
  constexpr std::string_view kNames = "btnfr\"\\";
  constexpr std::string_view kHex = "0123456789abcdef";
  *to++ = '\\';
  if (c == '"' || c == '\\') {
    *to++ = c;
  } else if (const std::size_t found = kShort.find(c); found != std::string_view::npos) {
    *to++ = kNames[found];
  } else {
    to = std::ranges::copy(std::string_view("u00"), to).out;
    *to++ = kHex[static_cast<unsigned char>(c) >> 4U];
    *to++ = kHex[static_cast<unsigned char>(c) & 15U];
  }
  return to;
}

constexpr std::size_t kEscapedMost = 6;  // bytes that one byte becomes, \u0001

// Writes at most eight bytes of the text as a JSON string holds them, up to and with the first that needs an
// escape. Precondition: there are eight bytes at `to` and kEscapedMost after them.
char* write_eight(char* to, std::string_view& text) {
  // Missing bytes are letters, so that they are not marked.
  std::uint64_t eight = 0x6161616161616161;
  const std::size_t taken = std::min<std::size_t>(text.size(), 8);
  if (taken == 8) {
    std::memcpy(&eight, text.data(), 8);  // one instruction
  } else {
    std::memcpy(&eight, text.data(), taken);
  }
  static_assert(std::endian::native == std::endian::little);
  std::memcpy(to, &eight, 8);
  const std::uint64_t marks = special_bytes(eight);
  const std::size_t plain = marks == 0 ? taken : static_cast<std::size_t>(std::countr_zero(marks)) / 8;
  to += plain;
  if (marks != 0) to = write_escape(to, text[plain]);
  text.remove_prefix(marks == 0 ? plain : plain + 1);
  return to;
}

// Walks over valid JSON. It never looks further than the value it is asked to skip.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) { skip_space(); }

  bool at(char c) const { return position_ < text_.size() && text_[position_] == c; }
  bool done() const { return position_ >= text_.size(); }
  void skip_char() {
    ++position_;
    skip_space();
  }
  std::string_view take_value() {
    const std::size_t begin = position_;
    if (at('"')) {
      skip_string();
    } else if (at('{') || at('[')) {
      skip_nested();
    } else {
      while (!done() && !is_space(text_[position_]) && !at(',') && !at(']') && !at('}')) ++position_;
    }
    const std::string_view value = text_.substr(begin, position_ - begin);
    skip_space();
    return value;
  }

 private:
  void skip_space() {
    while (!done() && is_space(text_[position_])) ++position_;
  }
  void skip_string() {
    for (++position_; !done() && text_[position_] != '"'; ++position_)
      if (text_[position_] == '\\') ++position_;
    ++position_;
  }
  void skip_nested() {
    std::size_t depth = 0;
    while (!done()) {
      const char c = text_[position_];
      if (c == '"') {
        skip_string();
        continue;
      }
      ++position_;
      if (c == '{' || c == '[') ++depth;
      if ((c == '}' || c == ']') && --depth == 0) return;
    }
  }

  std::string_view text_;
  std::size_t position_ = 0;
};

std::string unquote(std::string_view quoted) {
  if (quoted.find('\\') == std::string_view::npos) return std::string(quoted.substr(1, quoted.size() - 2));
  const value parsed = boost::json::parse(boost::json::string_view(quoted.data(), quoted.size()));
  return std::string(parsed.get_string());
}

bool is_key(std::string_view quoted, std::string_view key) {
  if (quoted.find('\\') != std::string_view::npos) return unquote(quoted) == key;
  return quoted.substr(1, quoted.size() - 2) == key;
}

// Until `each`, which is given a key with its quotes and the value, says that it has seen enough.
template <class Each>
void walk_object(std::string_view text, Each each) {
  Scanner scanner(text);
  scanner.skip_char();
  while (!scanner.done() && !scanner.at('}')) {
    const std::string_view key = scanner.take_value();
    scanner.skip_char();
    if (!each(key, scanner.take_value())) return;
    if (scanner.at(',')) scanner.skip_char();
  }
}

// How many members the objects of a text have in all: a colon outside a string is one member.
// Precondition: valid JSON.
std::size_t count_members(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ':') ++count;
    if (text[i] != '"') continue;
    for (++i; text[i] != '"'; ++i)
      if (text[i] == '\\') ++i;
  }
  return count;
}

std::size_t count_members(const value& of) {
  std::size_t count = 0;
  if (const object* members = of.if_object()) {
    count += members->size();
    for (const auto& member : *members) count += count_members(member.value());
  } else if (const array* items = of.if_array()) {
    for (const value& item : *items) count += count_members(item);
  }
  return count;
}

}  // namespace

bool names_members_once(std::string_view text, const value& parsed) {
  return count_members(text) == count_members(parsed);
}

Result<value> parse(std::string_view text, const ParseLimits& limits) {
  if (text.size() > limits.bytes)
    return fail(
        too_large(fmt::format("JSON text of {} bytes is over the limit of {}", text.size(), limits.bytes)));
  boost::json::parse_options options;
  options.max_depth = limits.depth;
  boost::system::error_code error;
  value parsed = boost::json::parse(boost::json::string_view(text.data(), text.size()), error, {}, options);
  if (error) return fail(invalid(fmt::format("not valid JSON: {}", error.message())));
  return parsed;
}

Result<object> parse_object(std::string_view text, const ParseLimits& limits) {
  RELAY_TRY(value parsed, parse(text, limits));
  if (!parsed.is_object()) return fail(invalid("expected a JSON object"));
  return std::move(parsed.get_object());
}

std::string write(const value& item) {
  std::string out;
  write_to(out, item);
  return out;
}
std::string write(const object& item) {
  std::string out;
  write_object_to(out, item);
  return out;
}
std::string write_pretty(const value& item) {
  std::string out;
  write_pretty_to(out, item, 0);
  return out;
}
void append_quoted(std::string& out, std::string_view text) {
  // Through a buffer: appending each piece to the string costs more than writing it.
  char buffer[512];
  constexpr std::size_t kRoom = 8 + kEscapedMost + 1;  // of one step, and the quote at the end
  char* to = buffer;
  *to++ = '"';
  while (!text.empty()) {
    to = write_eight(to, text);
    if (std::end(buffer) - to >= static_cast<std::ptrdiff_t>(kRoom)) continue;
    out.append(buffer, static_cast<std::size_t>(to - buffer));
    to = buffer;
  }
  *to++ = '"';
  out.append(buffer, static_cast<std::size_t>(to - buffer));
}
std::string quote(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 2);
  append_quoted(out, text);
  return out;
}
std::string write_canonical(const value& item) {
  std::string out;
  write_canonical_to(out, item);
  return out;
}

const value* find(const object& members, std::string_view key) {
  return members.if_contains(boost::json::string_view(key.data(), key.size()));
}
const object& empty_object() {
  static const object kEmpty;
  return kEmpty;
}
const object* find_object(const object& members, std::string_view key) {
  const value* found = find(members, key);
  return found ? found->if_object() : nullptr;
}
const array* find_array(const object& members, std::string_view key) {
  const value* found = find(members, key);
  return found ? found->if_array() : nullptr;
}
std::optional<std::string_view> find_string(const object& members, std::string_view key) {
  const value* found = find(members, key);
  if (!found || !found->is_string()) return std::nullopt;
  return view(found->get_string());
}
std::optional<std::int64_t> find_int(const object& members, std::string_view key) {
  const value* found = find(members, key);
  if (!found) return std::nullopt;
  boost::system::error_code error;
  const auto number = found->to_number<std::int64_t>(error);
  return error ? std::nullopt : std::optional(number);
}
std::optional<double> find_number(const object& members, std::string_view key) {
  const value* found = find(members, key);
  if (!found) return std::nullopt;
  boost::system::error_code error;
  const auto number = found->to_number<double>(error);
  return error ? std::nullopt : std::optional(number);
}
std::optional<bool> find_bool(const object& members, std::string_view key) {
  const value* found = find(members, key);
  if (!found || !found->is_bool()) return std::nullopt;
  return found->get_bool();
}

std::vector<Member> split_object(std::string_view text) {
  std::vector<Member> members;
  walk_object(text, [&](std::string_view quoted_key, std::string_view value) {
    members.push_back({unquote(quoted_key), value});
    return true;
  });
  return members;
}

std::vector<std::string_view> split_array(std::string_view text) {
  std::vector<std::string_view> items;
  Scanner scanner(text);
  scanner.skip_char();
  while (!scanner.done() && !scanner.at(']')) {
    items.push_back(scanner.take_value());
    if (scanner.at(',')) scanner.skip_char();
  }
  return items;
}

std::optional<std::string_view> find_text(std::string_view text, std::string_view key) {
  std::optional<std::string_view> found;
  walk_object(text, [&](std::string_view quoted_key, std::string_view value) {
    if (is_key(quoted_key, key)) found = value;
    return !found;
  });
  return found;
}

}  // namespace relay::json
