// LineMatcher: finds the lines that match a pattern. The only door to RE2.
//
// RE2 matches in time proportional to the text, whatever the pattern; there are no back-references and no
// look-around. "^" and "$" mean the ends of a line, and nothing matches across a newline. \w, \d, \s and \b
// know ASCII only; \pL and its kin know Unicode. Where a match must contain a fixed text, that is looked for
// first. One matcher belongs to one thread: RE2's tables are shared under a lock otherwise.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "search/multi_literal.h"

namespace re2 {
class RE2;
}

namespace relay::search {

enum class Syntax : std::uint8_t { regex, literal };

struct SearchPattern {
  std::string text;
  Syntax syntax = Syntax::regex;
  Case letters = Case::sensitive;
};

class LineMatcher {
 public:
  static constexpr std::size_t kNone = LiteralFinder::kNone;

  static Result<LineMatcher> compile(const SearchPattern& pattern);
  LineMatcher(LineMatcher&&) noexcept;
  LineMatcher& operator=(LineMatcher&&) noexcept;
  ~LineMatcher();

  /// Where the first match at or after `from` starts, or kNone. text is whole lines and from is the start of
  /// one; only the first match of a line is wanted, so the caller goes on at the next line.
  [[nodiscard]] std::size_t find(std::string_view text, std::size_t from) const;

 private:
  LineMatcher();
  [[nodiscard]] std::size_t find_by_regex(std::string_view text, std::size_t from) const;
  [[nodiscard]] std::size_t find_by_literal(std::string_view text, std::size_t from) const;

  std::unique_ptr<re2::RE2> regex_;  // none when the literals are the whole pattern, or every line matches
  std::optional<MultiLiteral> literals_;  // every match contains one of them; none: nothing is known
};

}  // namespace relay::search
