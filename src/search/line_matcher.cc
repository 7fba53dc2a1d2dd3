#include "search/line_matcher.h"

#include <re2/re2.h>

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/limits.h"
#include "search/required_literal.h"

namespace relay::search {
namespace {

constexpr std::int64_t kRegexBytes = 16 * 1024 * 1024;  // program and tables of one matcher

RE2::Options options_for(const SearchPattern& pattern) {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_never_nl(true);
  options.set_case_sensitive(pattern.letters == Case::sensitive);
  options.set_literal(pattern.syntax == Syntax::literal);
  options.set_max_mem(kRegexBytes);
  return options;
}

Result<void> check_text(const std::string& text) {
  if (text.empty()) return relay::fail(invalid("the search pattern is empty"));
  if (text.size() > limits::kSearchPatternBytes)
    return relay::fail(invalid("the search pattern is too long"));
  if (text.find_first_of(std::string_view("\n\0", 2)) != std::string::npos) {
    return relay::fail(invalid("the search pattern contains a newline or NUL; search is line by line"));
  }
  if (!is_valid_utf8(text)) return relay::fail(invalid("the search pattern is not valid UTF-8"));
  return {};
}

// What people write who want to see all of a file: each line matches where it begins.
bool matches_every_line(std::string_view regex) {
  return regex == "^" || regex == ".*" || regex == "^.*";
}

std::size_t line_start(std::string_view text, std::size_t at) {
  const void* newline = ::memrchr(text.data(), '\n', at);
  return newline == nullptr ? 0
                            : static_cast<std::size_t>(static_cast<const char*>(newline) - text.data()) + 1;
}

}  // namespace

LineMatcher::LineMatcher() = default;
LineMatcher::LineMatcher(LineMatcher&&) noexcept = default;
LineMatcher& LineMatcher::operator=(LineMatcher&&) noexcept = default;
LineMatcher::~LineMatcher() = default;

Result<LineMatcher> LineMatcher::compile(const SearchPattern& pattern) {
  RELAY_CHECK(check_text(pattern.text));
  const RequiredLiterals required = pattern.syntax == Syntax::literal
                                        ? required_literals_of_text(pattern.text, pattern.letters)
                                        : required_literals(pattern.text, pattern.letters);
  LineMatcher matcher;
  if (pattern.syntax == Syntax::regex && matches_every_line(pattern.text)) return matcher;
  if (!required.any.empty()) matcher.literals_.emplace(required.any, pattern.letters);
  if (required.whole) return matcher;
  const std::string text = pattern.syntax == Syntax::literal ? pattern.text : "(?m)" + pattern.text;
  matcher.regex_ = std::make_unique<RE2>(text, options_for(pattern));
  if (!matcher.regex_->ok()) {
    return relay::fail(invalid(
        fmt::format("the search pattern is no regular expression: {}; set literal to search for plain text",
                    matcher.regex_->error())));
  }
  return matcher;
}

std::size_t LineMatcher::find(std::string_view text, std::size_t from) const {
  if (from >= text.size()) return kNone;
  if (regex_ == nullptr) return literals_ ? literals_->find(text, from) : from;
  return literals_ ? find_by_literal(text, from) : find_by_regex(text, from);
}

std::size_t LineMatcher::find_by_regex(std::string_view text, std::size_t from) const {
  const re2::StringPiece rest(text.data() + from, text.size() - from);
  re2::StringPiece match;
  if (!regex_->Match(rest, 0, rest.size(), RE2::UNANCHORED, &match, 1)) return kNone;
  const auto at = static_cast<std::size_t>(match.data() - text.data());
  // Behind the last newline there is no line, though an expression that can be empty matches there.
  return at == text.size() && text.back() == '\n' ? kNone : at;
}

std::size_t LineMatcher::find_by_literal(std::string_view text, std::size_t from) const {
  constexpr std::size_t kTries = 16, kNearBytes = 128;
  std::size_t at = from, tries = 0;
  while ((at = literals_->find(text, at)) != kNone) {
    const std::size_t start = std::max(from, line_start(text, at));
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const re2::StringPiece line(text.data() + start, end - start);
    re2::StringPiece match;
    if (regex_->Match(line, 0, line.size(), RE2::UNANCHORED, &match, 1)) {
      return static_cast<std::size_t>(match.data() - text.data());
    }
    at = end + 1;
    if (at >= text.size()) return kNone;
    // A literal that is everywhere and decides nothing: the expression alone is faster.
    if (++tries >= kTries && (at - from) / tries < kNearBytes) return find_by_regex(text, at);
  }
  return kNone;
}

}  // namespace relay::search
