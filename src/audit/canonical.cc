#include "audit/canonical.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <vector>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/canonical_number.h"
#include "base/json.h"
#include "base/limits.h"

namespace relay::audit {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

// The value of a string token; only keys and a few members need it.
std::string unquote(std::string_view token) {
  if (token.find('\\') == std::string_view::npos) return std::string(token.substr(1, token.size() - 2));
  const auto parsed = json::parse(token);
  return parsed && parsed->is_string() ? std::string(json::view(parsed->get_string())) : std::string(token);
}

// Whether every escape of a valid string token is the one that the canonical form has.
bool is_canonical_string(std::string_view token) {
  for (std::size_t at = token.find('\\'); at != std::string_view::npos; at = token.find('\\', at)) {
    const char kind = token[at + 1];
    if (kind == '/') return false;
    if (kind == 'u') {
      const std::string_view digits = token.substr(at + 2, 4);
      const bool is_control = digits.starts_with("00") && (digits[2] == '0' || digits[2] == '1');
      const bool has_short_form = digits[2] == '0' && std::string_view("89acdACD").contains(digits[3]);
      const bool is_lower = digits[3] < 'A' || digits[3] > 'F';
      if (!is_control || has_short_form || !is_lower) return false;
    }
    at += 2;
  }
  return true;
}

// std::from_chars tells that a number is out of range, but not whether it is too large or too small.
double read_double(std::string_view token) {
  double number = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), number);
  return error == std::errc() ? number : std::strtod(std::string(token).c_str(), nullptr);
}

struct Item {
  std::string key;
  std::size_t begin;  // `"key":value` in the output
  std::size_t value;  // where the value begins
  std::size_t end;
};

class Canonicaliser {
 public:
  Canonicaliser(std::string_view text, std::string& out) : text_(text), out_(out) {}

  bool whole_value() { return value(0) && at_end(); }

  /// The members of the outermost object, unsorted, as pieces of `out`.
  bool whole_object(std::vector<Item>& items) {
    skip_blanks();
    return at('{') && members(0, items) && at_end();
  }

  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  bool fail_with(std::string_view what) {
    if (problem_.empty()) problem_ = fmt::format("{} at byte {}", what, position_);
    return false;
  }
  [[nodiscard]] bool at(char c) const { return position_ < text_.size() && text_[position_] == c; }
  void skip_blanks() {
    while (position_ < text_.size() &&
           std::string_view(" \t\r\n").find(text_[position_]) != std::string_view::npos)
      ++position_;
  }
  bool at_end() {
    skip_blanks();
    return position_ == text_.size() || fail_with("text after the value");
  }
  bool take(char c) {
    skip_blanks();
    if (!at(c)) return false;
    ++position_;
    return true;
  }

  bool value(std::size_t depth) {
    if (depth > limits::kJsonDepth) return fail_with("nested too deeply");
    skip_blanks();
    if (at('{')) return object(depth);
    if (at('[')) return array(depth);
    if (at('"')) return string();
    for (const std::string_view word : {"true", "false", "null"})
      if (text_.substr(position_, word.size()) == word) return copy(word.size());
    return number();
  }

  bool copy(std::size_t bytes) {
    out_.append(text_.substr(position_, bytes));
    position_ += bytes;
    return true;
  }

  bool object(std::size_t depth) {
    std::vector<Item> items;
    const std::size_t begin = out_.size();
    out_ += '{';
    if (!members(depth, items)) return false;
    if (!std::ranges::is_sorted(items, {}, &Item::key)) {
      std::ranges::sort(items, {}, &Item::key);
      std::string sorted = "{";
      for (const Item& item : items) {
        if (sorted.size() > 1) sorted += ',';
        sorted.append(out_, item.begin, item.end - item.begin);
      }
      out_.replace(begin, std::string::npos, sorted);
    }
    out_ += '}';
    return !has_duplicates(items) || fail_with("a member that occurs twice in the object");
  }

  static bool has_duplicates(const std::vector<Item>& sorted) {
    return std::ranges::adjacent_find(sorted, {}, &Item::key) != sorted.end();
  }

  bool members(std::size_t depth, std::vector<Item>& items) {
    ++position_;
    if (take('}')) return true;
    do {
      if (!items.empty()) out_ += ',';
      Item item{.begin = out_.size()};
      skip_blanks();
      if (!at('"') || !string()) return fail_with("a key was expected");
      item.key = unquote(std::string_view(out_).substr(item.begin));
      if (!take(':')) return fail_with("':' was expected");
      out_ += ':';
      item.value = out_.size();
      if (!value(depth + 1)) return false;
      item.end = out_.size();
      items.push_back(std::move(item));
    } while (take(','));
    return take('}') || fail_with("',' or '}' was expected");
  }

  bool array(std::size_t depth) {
    ++position_;
    out_ += '[';
    if (take(']')) {
      out_ += ']';
      return true;
    }
    do {
      if (out_.back() != '[') out_ += ',';
      if (!value(depth + 1)) return false;
    } while (take(','));
    out_ += ']';
    return take(']') || fail_with("',' or ']' was expected");
  }

  bool string() {
    std::size_t end = position_ + 1;
    for (; end < text_.size() && text_[end] != '"'; ++end) {
      if (static_cast<unsigned char>(text_[end]) < 0x20) return fail_with("a control character in a string");
      if (text_[end] != '\\') continue;
      ++end;
      if (!escape(end)) return fail_with("an invalid escape in a string");
    }
    if (end >= text_.size()) return fail_with("a string that does not end");
    const std::string_view token = text_.substr(position_, end + 1 - position_);
    return is_canonical_string(token) ? copy(token.size()) : respell_string(token);
  }
  // Half of a surrogate pair has no UTF-8, so no canonical form.
  bool respell_string(std::string_view token) {
    const auto parsed = json::parse(token);
    if (!parsed) return fail_with("half of a surrogate pair in a string");
    json::append_quoted(out_, json::view(parsed->get_string()));
    position_ += token.size();
    return true;
  }
  bool escape(std::size_t& at) const {
    if (at >= text_.size()) return false;
    if (std::string_view("\"\\/bfnrt").find(text_[at]) != std::string_view::npos) return true;
    if (text_[at] != 'u' || at + 4 >= text_.size()) return false;
    const std::string_view digits = text_.substr(at + 1, 4);
    at += 4;
    return std::ranges::all_of(digits, is_hex);
  }

  [[nodiscard]] std::size_t digits(std::size_t from) const {
    while (from < text_.size() && is_digit(text_[from])) ++from;
    return from;
  }
  bool number() {
    std::size_t end = position_ + (at('-') ? 1 : 0);
    const std::size_t whole = end;
    end = digits(end);
    if (end == whole || (text_[whole] == '0' && end > whole + 1)) return fail_with("a value was expected");
    if (end < text_.size() && text_[end] == '.') {
      const std::size_t fraction = end + 1;
      end = digits(fraction);
      if (end == fraction) return fail_with("a number that ends with its point");
    }
    if (end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
      std::size_t exponent = end + 1;
      if (exponent < text_.size() && (text_[exponent] == '+' || text_[exponent] == '-')) ++exponent;
      end = digits(exponent);
      if (end == exponent) return fail_with("a number without its exponent");
    }
    return respell_number(text_.substr(position_, end - position_));
  }
  // Python reads a number without fraction and exponent as an integer, which has no negative zero.
  bool respell_number(std::string_view token) {
    if (token.find_first_of(".eE") == std::string_view::npos)
      return token == "-0" ? replace(token, "0") : copy(token.size());
    const double number = read_double(token);
    if (!std::isfinite(number)) return fail_with("a number beyond the range of a double");
    append_canonical_number(out_, number);
    position_ += token.size();
    return true;
  }
  bool replace(std::string_view token, std::string_view with) {
    out_ += with;
    position_ += token.size();
    return true;
  }

  std::string_view text_;
  std::string& out_;
  std::size_t position_ = 0;
  std::string problem_;
};

std::optional<std::uint64_t> find_sequence(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string text_member(std::string_view value) {
  return value.starts_with('"') ? unquote(value) : std::string();
}

void note_member(ParsedLine& line, const Item& item, std::string_view value) {
  if (item.key == "seq") line.seq = find_sequence(value);
  if (item.key == "prev") line.prev = text_member(value);
  if (item.key == "chain") line.chain = text_member(value);
  if (item.key == "action") line.action = text_member(value);
  if (item.key == "args") line.args = value;
}

}  // namespace

Result<ParsedLine> parse_line(std::string_view text) {
  if (!is_valid_utf8(text)) return fail(invalid("not valid UTF-8"));
  std::string flat;
  flat.reserve(text.size());
  std::vector<Item> items;
  items.reserve(20);
  Canonicaliser reader(text, flat);
  if (!reader.whole_object(items))
    return fail(invalid(reader.problem().empty() ? "not a JSON object" : reader.problem()));
  std::ranges::sort(items, {}, &Item::key);
  if (std::ranges::adjacent_find(items, {}, &Item::key) != items.end())
    return fail(invalid("a member occurs twice"));
  ParsedLine line;
  line.canonical.reserve(flat.size() + 2);
  line.canonical += '{';
  for (const Item& item : items) {
    note_member(line, item, std::string_view(flat).substr(item.value, item.end - item.value));
    if (item.key == "chain") continue;
    if (line.canonical.size() > 1) line.canonical += ',';
    line.canonical.append(flat, item.begin, item.end - item.begin);
  }
  line.canonical += '}';
  return line;
}

Result<std::string> canonical_json(std::string_view text) {
  std::string out;
  Canonicaliser reader(text, out);
  if (!is_valid_utf8(text)) return fail(invalid("not valid UTF-8"));
  if (!reader.whole_value()) return fail(invalid(reader.problem()));
  return out;
}

}  // namespace relay::audit
