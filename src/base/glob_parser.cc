#include "base/glob_parser.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/limits.h"

namespace relay {
namespace {

using Token = GlobPart::Token;

// The end of a bracket class whose "[" stands at `at`, or `at` when there is none: braces inside are plain.
std::size_t skip_class(std::string_view text, std::size_t at) {
  std::size_t end = at + 1;
  if (end < text.size() && (text[end] == '!' || text[end] == '^')) ++end;
  if (end < text.size() && text[end] == ']') ++end;
  while (end < text.size() && text[end] != ']' && text[end] != '/') end += text[end] == '\\' ? 2 : 1;
  return end < text.size() && text[end] == ']' ? end : at;
}

struct BraceGroup {
  std::size_t open, close;
  std::vector<std::string_view> choices;
};

// The group whose "{" stands at open, or nothing when it does not close or has no comma.
bool find_group(std::string_view text, std::size_t open, BraceGroup& group) {
  group = {open, 0, {}};
  std::size_t depth = 0, start = open + 1;
  for (std::size_t i = open; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\') {
      ++i;
    } else if (c == '[') {
      i = skip_class(text, i);
    } else if (c == '{') {
      ++depth;
    } else if ((c == ',' && depth == 1) || (c == '}' && --depth == 0)) {
      group.choices.push_back(text.substr(start, i - start));
      start = i + 1;
      if (c == '}') {
        group.close = i;
        return group.choices.size() > 1;
      }
    }
  }
  return false;
}

bool find_first_group(std::string_view text, BraceGroup& group) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '[') {
      i = skip_class(text, i);
    } else if (text[i] == '{' && find_group(text, i, group)) {
      return true;
    }
  }
  return false;
}

struct NamedClass {
  std::string_view name;
  std::string_view ranges;  // pairs of first and last
};

constexpr std::array<NamedClass, 8> kNamedClasses{{{"[:alpha:]", "azAZ"},
                                                   {"[:digit:]", "09"},
                                                   {"[:alnum:]", "azAZ09"},
                                                   {"[:upper:]", "AZ"},
                                                   {"[:lower:]", "az"},
                                                   {"[:xdigit:]", "09afAF"},
                                                   {"[:space:]", "\t\r  "},
                                                   {"[:punct:]", "!/:@[`{~"}}};

const NamedClass* find_named_class(std::string_view text) {
  const auto found = std::find_if(kNamedClasses.begin(), kNamedClasses.end(),
                                  [&](const NamedClass& named) { return text.starts_with(named.name); });
  return found == kNamedClasses.end() ? nullptr : &*found;
}

// One member of a class, with its escape; false at the end of the text.
bool take_member(std::string_view text, std::size_t& at, char32_t& out) {
  if (at < text.size() && text[at] == '\\') ++at;
  if (at >= text.size()) return false;
  const DecodedChar c = decode_char(text.substr(at));
  out = c.value;
  at += c.size;
  return true;
}

}  // namespace

Result<std::vector<std::string>> expand_braces(std::string_view pattern) {
  std::vector<std::string> waiting{std::string(pattern)}, done;
  std::size_t bytes = 0;
  while (!waiting.empty()) {
    const std::string text = std::move(waiting.back());
    waiting.pop_back();
    BraceGroup group;
    if (!find_first_group(text, group)) {
      bytes += text.size();
      done.push_back(text);
    } else {
      const std::string_view view = text;
      for (auto choice = group.choices.rbegin(); choice != group.choices.rend(); ++choice) {
        waiting.push_back(
            fmt::format("{}{}{}", view.substr(0, group.open), *choice, view.substr(group.close + 1)));
      }
    }
    if (waiting.size() + done.size() > limits::kGlobAlternatives || bytes > 16 * limits::kGlobBytes) {
      return fail(invalid(fmt::format("the braces of a glob pattern expand to more than {} alternatives",
                                      limits::kGlobAlternatives)));
    }
  }
  return done;
}

bool GlobParser::parse_class(std::string_view text, std::size_t& at, GlobPart& part) {
  GlobPart::CharClass set;
  std::size_t i = at;
  if (i < text.size() && (text[i] == '!' || text[i] == '^')) {
    set.negated = true;
    ++i;
  }
  for (bool first = true; i < text.size() && (first || text[i] != ']'); first = false) {
    if (const NamedClass* named = find_named_class(text.substr(i))) {
      for (std::size_t k = 0; k < named->ranges.size(); k += 2) {
        set.ranges.push_back(
            {static_cast<unsigned char>(named->ranges[k]), static_cast<unsigned char>(named->ranges[k + 1])});
      }
      i += named->name.size();
      continue;
    }
    char32_t low = 0, high = 0;
    if (!take_member(text, i, low)) return false;
    high = low;
    if (i + 1 < text.size() && text[i] == '-' && text[i + 1] != ']') {
      ++i;
      if (!take_member(text, i, high)) return false;
    }
    set.ranges.push_back({low, high});
  }
  if (i >= text.size()) return false;
  at = i + 1;
  part.classes_.push_back(std::move(set));
  return true;
}

Result<GlobPart> GlobParser::parse_part(std::string_view text) {
  GlobPart part;
  if (text == "**") {
    part.globstar_ = true;
    return part;
  }
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i++];
    if (c == '*') {
      const bool repeated = !part.tokens_.empty() && part.tokens_.back().kind == Token::Kind::any_run;
      if (!repeated) part.tokens_.push_back({Token::Kind::any_run});
    } else if (c == '?') {
      part.tokens_.push_back({Token::Kind::any_char});
    } else if (c == '[') {
      if (!parse_class(text, i, part))
        return fail(invalid(fmt::format("glob pattern: the class in '{}' has no ]", text)));
      part.tokens_.push_back(
          {Token::Kind::char_class, 0, static_cast<std::uint16_t>(part.classes_.size() - 1)});
    } else {
      if (c == '\\' && i == text.size())
        return fail(invalid("glob pattern: nothing follows the last backslash"));
      part.tokens_.push_back({Token::Kind::byte, c == '\\' ? text[i++] : c});
    }
  }
  part.finish(case_);
  return part;
}

Result<std::vector<GlobPart>> GlobParser::parse(std::string_view pattern) {
  std::vector<GlobPart> parts;
  for (std::size_t at = 0; at <= pattern.size();) {
    const std::size_t slash = std::min(pattern.find('/', at), pattern.size());
    const std::string_view text = pattern.substr(at, slash - at);
    at = slash + 1;
    if (text.empty()) continue;  // a slash at either end, or two in a row
    const bool again = text == "**" && !parts.empty() && parts.back().is_globstar();
    if (again) continue;
    RELAY_TRY(auto part, parse_part(text));
    parts.push_back(std::move(part));
  }
  return parts;
}

}  // namespace relay
