// Glob: one wildcard pattern over slash-separated paths.
//
//   *       any characters but a slash          **      as a whole part: any number of parts, also none
//   ?       one character (a UTF-8 character)   [a-z]   one of a class; [!a-z] and [^a-z] one of the others
//   {a,b}   either; may nest and hold slashes   \x      x itself
//
// "a/**" means what is inside a, not a itself. "**" inside a part ("a**b") is "*". A pattern compiles to
// lists of parts; two greedy matchers with one place to go back to (one over the parts, one inside a part)
// make the work at most proportional to pattern times path, whatever an attacker writes. Braces are expanded
// when parsing, and bounded.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace relay {

enum class Case : std::uint8_t { sensitive, ignored };  // ignored: ASCII letters only

enum class Braces : std::uint8_t { expand, plain };  // plain: .gitignore files have no braces

/// One part of a pattern: what may stand between two slashes.
class GlobPart {
 public:
  struct Token {
    enum class Kind : std::uint8_t { byte, any_char, any_run, char_class } kind;
    char byte = 0;
    std::uint16_t char_class = 0;  // index into classes_
  };

  [[nodiscard]] bool matches(std::string_view name) const;
  [[nodiscard]] bool is_globstar() const { return globstar_; }

 private:
  friend class GlobParser;
  struct CharClass {
    struct Range {
      char32_t first, last;
    };
    std::vector<Range> ranges;
    bool negated = false;
  };
  enum class Shape : std::uint8_t { literal, suffix, prefix, general };  // "abc", "*.cc", "lib*", the rest

  void finish(Case letters);
  [[nodiscard]] bool matches_general(std::string_view name) const;
  /// How many bytes of name one token takes at `at`; 0 when it does not match there.
  [[nodiscard]] std::size_t step(const Token& token, std::string_view name, std::size_t at) const;
  [[nodiscard]] bool class_has(const CharClass& set, char32_t c) const;

  std::vector<Token> tokens_;
  std::vector<CharClass> classes_;
  std::string literal_;  // for the shapes that are one literal
  Shape shape_ = Shape::general;
  Case case_ = Case::sensitive;
  bool globstar_ = false;
};

/// For names that are no paths (tools, clients, hosts): `*` is any run of characters, slashes among them, `?`
/// any one byte; nothing else is special. The whole name must match; an empty pattern matches every name.
bool name_matches(std::string_view pattern, std::string_view name);

class Glob {
 public:
  static Result<Glob> parse(std::string_view pattern, Case letters = Case::sensitive,
                            Braces braces = Braces::expand);

  /// Does the whole path match? No slash at either end of path.
  [[nodiscard]] bool matches(std::string_view path) const;
  /// Could something beneath the directory match? May say yes too often, never no wrongly.
  [[nodiscard]] bool may_match_beneath(std::string_view directory) const;
  /// Had the pattern a slash (other than one at its very end)?
  [[nodiscard]] bool has_slash() const { return has_slash_; }

 private:
  using Parts = std::vector<GlobPart>;
  friend class GlobParser;

  std::vector<Parts> alternatives_;
  bool has_slash_ = false;
};

}  // namespace relay
