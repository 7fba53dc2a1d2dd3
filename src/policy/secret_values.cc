#include "policy/secret_values.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/bytes.h"
#include "policy/secret_text.h"

namespace relay::policy {
namespace {

using namespace secret_text;

constexpr std::size_t kMemberNameBytes = 64;  // `User Id` of `;User Id=`
constexpr std::size_t kWordBytes = 16;        // the longest of kNoSecrets and of the cmdlet verbs
constexpr int kClosersAtEnd = 4;              // `abc"}]);`

// What stands after a name where no secret does: types in code, empty values in documents.
constexpr std::array<std::string_view, 18> kNoSecrets{
    "null", "none", "nil",     "undefined", "true",   "false", "string", "str",      "number",
    "bool", "int",  "boolean", "integer",   "object", "bytes", "any",    "optional", "required"};

constexpr std::array<std::string_view, 24> kCmdletVerbs{
    "Get",       "Set",         "New",    "Add",     "Remove",   "Read",    "Write",     "Convert",
    "ConvertTo", "ConvertFrom", "Import", "Export",  "Invoke",   "Test",    "Reset",     "Find",
    "Select",    "Unlock",      "Update", "Request", "Register", "Protect", "Unprotect", "Out"};

bool is_delimiter(char c) {
  return is(c, space | quote) || std::string_view(",;:)]}>&|\\").find(c) != kNone;
}

// A quote that stands where values begin and has one behind it does not close, it opens the next value.
bool opens_value(std::string_view text, std::size_t at) {
  if (at == 0 || at + 1 >= text.size()) return false;
  const char before = text[at - 1];
  if (before == '=' || before == ':') return !is_delimiter(text[at + 1]);
  return is_word(text[at + 1]) && (is(before, space) || std::string_view("([{,").find(before) != kNone);
}

bool closes_bare(std::string_view text, std::size_t at) {
  return at + 1 >= text.size() || is_delimiter(text[at + 1]);
}

// `name=` after a separator of members. Names hold neither `&` nor `;`, so two separators read different
// bytes.
bool has_member(std::string_view text, std::size_t at, std::uint8_t also) {
  const std::string_view window = text.substr(0, at + kMemberNameBytes);
  std::size_t end = at;
  while (end < window.size() &&
         (is(window[end], dotted | also) || window[end] == '[' || window[end] == ']' || window[end] == '%'))
    ++end;
  return end > at && end < window.size() && window[end] == '=' && !is(window[at], line_break);
}

bool ends_bare(std::string_view text, std::size_t at) {
  switch (text[at]) {
    case '&': return has_member(text, at + 1, 0);
    case ';': return has_member(text, at + 1, space);
    case '<': return has_at(text, at, "</");
    default: return is(text[at], space) || (is(text[at], quote) && closes_bare(text, at));
  }
}

char opener_of(char closer) {
  return closer == ')' ? '(' : closer == ']' ? '[' : closer == '}' ? '{' : '\0';
}

// `abc),` is the value abc in a call; `f(x)` and the placeholder keep their brackets.
std::size_t trim_closers(std::string_view text, std::size_t from, std::size_t end) {
  for (int i = 0; i < kClosersAtEnd && end > from; ++i) {
    const char last = text[end - 1];
    const char opener = opener_of(last);
    if (last != ',' && last != ';' && last != ':' && !opener) break;
    if (opener && text.substr(from, end - from).find(opener) != kNone) break;
    --end;
  }
  return end;
}

bool is_no_secret(std::string_view value) {
  return value.size() <= kWordBytes && std::ranges::any_of(kNoSecrets, [&](std::string_view word) {
           return equal_ignoring_case(value, word);
         });
}

// `token: Bearer V`: the scheme is no secret, the word behind it is.
std::size_t bare_end_with_scheme(std::string_view text, std::size_t from) {
  const std::size_t end = bare_end(text, from);
  const std::string_view word = text.substr(from, end - from);
  const bool scheme = equal_ignoring_case(word, "bearer") || equal_ignoring_case(word, "basic");
  if (!scheme || !has_at(text, end, " ")) return end;
  const std::size_t next = text.find_first_not_of(' ', end);
  return next == kNone ? end : std::max(end, bare_end(text, next));
}

// Adjacent pieces are one value: 'it''s', "a"'b', "a"b. Where the last quote is of another kind than the
// first, both go: what is left would read as an unclosed quote.
SecretSpan pieces(std::string_view text, std::size_t from, char opening) {
  char closing = opening;
  std::size_t end = quoted_end(text, from, closing);
  while (end + 2 < text.size() && text[end] == closing && is(text[end + 1], quote) &&
         is_word(text[end + 2])) {
    closing = text[end + 1];
    end = quoted_end(text, end + 2, closing);
  }
  const bool bare_tail = end + 1 < text.size() && text[end] == closing && is_word(text[end + 1]);
  if (bare_tail) return {from - 1, bare_end_with_scheme(text, end + 1)};
  if (closing == opening) return {from, end};
  return {from - 1, std::min(end + 1, text.size())};
}

std::optional<SecretSpan> quoted_value(std::string_view text, const Opening& opening) {
  const std::string three(3, opening.quote);
  if (!has_at(text, opening.value - 1, three)) {
    const SecretSpan found = pieces(text, opening.value, opening.quote);
    return span(found.begin, found.end);
  }
  const std::size_t begin = opening.value + 2;
  const std::size_t end = text.find(three, begin);
  return span(begin, end == kNone ? line_end(text, begin) : end);
}

// In text that was quoted once more a quote with more backslashes than the opening one belongs to the value.
std::size_t escaped_end(std::string_view text, const Opening& opening) {
  std::size_t escapes = 0;
  for (std::size_t i = opening.value; i < text.size() && !is(text[i], line_break); ++i) {
    if (text[i] == opening.quote && escapes <= opening.escapes) return i - escapes;
    escapes = text[i] == '\\' ? escapes + 1 : 0;
  }
  return line_end(text, opening.value);
}

// An empty value in a list of settings: the next line has a name of its own, which is no value of this one.
bool is_member_on_next_line(std::string_view text, std::size_t from, std::size_t value) {
  if (line_end(text.substr(0, value), from) == value) return false;
  const std::size_t name = run_end(text, value, dotted | quote);
  if (name == value || name == text.size()) return false;
  if (text[name] == '=') return text[from - 1] == '=';
  return text[name] == ':' && (name + 1 == text.size() || is(text[name + 1], space));
}

struct Line {
  std::size_t content;  // the first byte that is no blank
  std::size_t end;      // the line break
};
Line line_at(std::string_view text, std::size_t begin) {
  std::size_t content = begin;
  while (content < text.size() && (text[content] == ' ' || text[content] == '\t')) ++content;
  return {content, line_end(text, content)};
}

std::size_t after_line_break(std::string_view text, std::size_t end) {
  if (has_at(text, end, "\r\n")) return end + 2;
  return std::min(end + 1, text.size());
}

// Dashes of list items count as indentation: `- password: |`.
std::size_t indentation_of_line(std::string_view text, std::size_t at) {
  std::size_t begin = at;
  while (begin > 0 && !is(text[begin - 1], line_break)) --begin;
  std::size_t content = begin;
  while (content < at && (is(text[content], space) || has_at(text, content, "- "))) ++content;
  return content - begin;
}

// `|`, `>-`, `|2+`, then a comment or nothing.
std::optional<std::size_t> block_header_end(std::string_view text, std::size_t at) {
  if (at >= text.size() || (text[at] != '|' && text[at] != '>')) return std::nullopt;
  std::size_t end = at + 1;
  while (end < text.size() && end < at + 3 && (is_digit(text[end]) || text[end] == '-' || text[end] == '+'))
    ++end;
  const Line rest = line_at(text, end);
  if (rest.end == text.size() || (rest.content < rest.end && text[rest.content] != '#')) return std::nullopt;
  return after_line_break(text, rest.end);
}

// The lines that are indented deeper than the line of the key.
std::optional<SecretSpan> yaml_block(std::string_view text, std::size_t at, std::size_t first) {
  const std::size_t indentation = indentation_of_line(text, at);
  std::size_t begin = kNone;
  std::size_t end = first;
  for (std::size_t next = first; next < text.size();) {
    const Line line = line_at(text, next);
    const bool blank = line.content == line.end;
    if (!blank && line.content - next <= indentation) break;
    if (!blank) {
      begin = std::min(begin, line.content);
      end = line.end;
    }
    next = after_line_break(text, line.end);
  }
  if (begin == kNone) return std::nullopt;
  return SecretSpan{begin, end};
}

}  // namespace

Opening skip_opening(std::string_view text, std::size_t at) {
  at = run_end(text, at, space);
  std::size_t after = at;
  while (after < text.size() && text[after] == '\\') ++after;
  if (after < text.size() && is(text[after], quote)) return {after + 1, text[after], after - at};
  return {at};
}

// An opening quote is never itself escaped, so a later one ends the search of an earlier one: no stretch is
// searched more than once for each kind of quote.
std::size_t quoted_end(std::string_view text, std::size_t from, char closing) {
  std::size_t first_line = kNone;
  for (std::size_t i = from; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (is(text[i], line_break)) {
      first_line = std::min(first_line, i);
    } else if (text[i] == closing) {
      if (i == from || !opens_value(text, i)) return i;
      if (first_line != kNone) return first_line;
    }
  }
  return line_end(text, from);
}

std::size_t bare_end(std::string_view text, std::size_t from) {
  std::size_t end = from;
  while (end < text.size() && !ends_bare(text, end)) {
    const bool escaped_blank =
        text[end] == '\\' && end + 1 < text.size() && (text[end + 1] == ' ' || text[end + 1] == '\t');
    end += escaped_blank ? 2 : 1;
  }
  if (end < text.size() && is(text[end], quote)) end = std::max(from, skip_escapes_back(text, end));
  return trim_closers(text, from, end);
}

std::optional<SecretSpan> find_named_value(std::string_view text, std::size_t at) {
  Opening opening = skip_opening(text, at);
  std::size_t end = opening.quote ? 0 : bare_end_with_scheme(text, opening.value);
  if (!opening.quote && is_no_secret(text.substr(opening.value, end - opening.value))) {
    // `password: str = "V"`: the type stands between the name and the value.
    at = run_end(text, end, space);
    if (!has_at(text, at, "=") || has_at(text, at, "==")) return std::nullopt;
    opening = skip_opening(text, ++at);
    end = opening.quote ? 0 : bare_end_with_scheme(text, opening.value);
  }
  if (opening.escapes > 0) return span(opening.value, escaped_end(text, opening));
  if (opening.quote) return quoted_value(text, opening);
  if (const auto lines = block_header_end(text, opening.value))
    return yaml_block(text, opening.value, *lines);
  if (is_member_on_next_line(text, at, opening.value)) return std::nullopt;
  if (is_no_secret(text.substr(opening.value, end - opening.value))) return std::nullopt;
  return span(opening.value, end);
}

std::optional<SecretSpan> find_argument(std::string_view text, std::size_t at) {
  if (at >= text.size() || has_at(text, at, "--")) return std::nullopt;
  // A command in place of an argument stands in brackets; `New-York` alone is a value.
  if (text[at] == '(' && is_cmdlet_at(text, at)) return std::nullopt;
  if (const Opening opening = skip_opening(text, at); opening.escapes > 0)
    return span(opening.value, escaped_end(text, opening));
  if (!is(text[at], quote)) return span(at, bare_end_with_scheme(text, at));
  const std::size_t end = pieces(text, at + 1, text[at]).end;
  return span(at, has_at(text, end, text.substr(at, 1)) ? end + 1 : end);
}

bool is_cmdlet_at(std::string_view text, std::size_t at) {
  if (has_at(text, at, "(")) ++at;
  const std::size_t dash = run_end(text.substr(0, at + kWordBytes), at, alnum);
  if (dash + 1 >= text.size() || text[dash] != '-' || !is_upper(text[dash + 1])) return false;
  return std::ranges::any_of(kCmdletVerbs, [&](std::string_view verb) {
    return equal_ignoring_case(text.substr(at, dash - at), verb);
  });
}

}  // namespace relay::policy
