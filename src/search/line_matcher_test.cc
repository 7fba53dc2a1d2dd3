#include "search/line_matcher.h"

#include <re2/re2.h>

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "search/required_literal.h"

namespace relay::search {
namespace {

struct Row {
  const char* regex;
  const char* text;
  bool whole;
};

TEST(RequiredLiteral, Table) {
  const Row rows[] = {
      {"hello", "hello", true},
      {"a\\.b", "a.b", true},
      {"int\\s+main\\(", "main(", false},
      {"colou?r", "colo", false},
      {"ab*cd", "cd", false},
      {"abc+d", "abc", false},
      {"foo|bar", "foo|bar", true},
      {"(foo)bar", "bar", false},
      {"(?i)foo", "", false},
      {"[abc]def", "def", false},
      {"[]x]yz", "yz", false},
      {"x{3}yz", "yz", false},
      {"\\Qa.b\\E", "", false},
      {"^abc$", "abc", false},
      {".*", "", false},
      {"é*ab", "ab", false},
      {"\\bfoo\\b", "foo", false},
      {"x", "x", true},
      {"x.", "", false},
      {"(?:a|b)cd", "cd", false},
      {"\\x41bc", "", false},
      {"[[:alpha:]]xy", "xy", false},
      {"(a[)]b)cd", "cd", false},
      {"\\pLab", "", false},
      {"{c|}é", "{c|}é", true},
      {"a{x}b", "a{x}b", true},
      {"ab{2,}cd", "cd", false},
  };
  for (const Row& row : rows) {
    const RequiredLiterals found = required_literals(row.regex, Case::sensitive);
    EXPECT_EQ(fmt::format("{}", fmt::join(found.any, "|")), row.text) << row.regex;
    EXPECT_EQ(found.whole, row.whole) << row.regex;
  }
  EXPECT_EQ(required_literals("FOO_KEY", Case::ignored).any.at(0), "foo_");  // the Kelvin sign folds to k
  EXPECT_EQ(required_literals_of_text("a+b", Case::sensitive).any.at(0), "a+b");
  EXPECT_TRUE(required_literals("ab|", Case::sensitive).any.empty());
  EXPECT_TRUE(required_literals("ab|.", Case::sensitive).any.empty());
  EXPECT_FALSE(required_literals("ab|c.d_", Case::sensitive).whole);
}

// Whatever RE2 matches contains the literal: an expression made of random pieces against random text.
TEST(RequiredLiteral, NeverLosesAMatch) {
  std::mt19937 random(17);
  const std::string_view pieces[] = {"a",    "b",       "ab",          ".", "*",   "+",    "?",
                                     "{2}",  "{0,1}",   "(",           ")", "(?:", "|",    "[ab]",
                                     "[^a]", "\\b",     "\\.",         "^", "$",   "[]a]", "\\w",
                                     "c",    "[a\\]b]", "[[:alpha:]]", "{", "}",   "\\[",  "é"};
  const std::string_view letters[] = {"a", "b", "c", ".", "{", "}", "[", "]", "é", " "};
  RE2::Options options;
  options.set_log_errors(false);
  int matched = 0;
  for (int i = 0; i < 30'000; ++i) {
    std::string regex, text;
    for (std::size_t n = random() % 7 + 1; n > 0; --n) regex += pieces[random() % std::size(pieces)];
    const RE2 compiled("(?m)" + regex, options);
    const RequiredLiterals required = required_literals(regex, Case::sensitive);
    if (!compiled.ok() || required.any.empty()) continue;
    for (int k = 0; k < 5; ++k) {
      text.clear();
      for (std::size_t n = random() % 10; n > 0; --n) text += letters[random() % std::size(letters)];
      const bool match = RE2::PartialMatch(text, compiled);
      const bool has = std::any_of(required.any.begin(), required.any.end(), [&](const std::string& one) {
        return text.find(one) != std::string::npos;
      });
      if (match)
        EXPECT_TRUE(has) << regex << " on " << text << " wants "
                         << fmt::format("{}", fmt::join(required.any, " or "));
      if (required.whole) EXPECT_EQ(match, has) << regex << " on " << text;
      matched += match;
    }
  }
  EXPECT_GT(matched, 1000);
}

std::vector<std::size_t> lines_of(const SearchPattern& pattern, std::string_view text) {
  const auto matcher = LineMatcher::compile(pattern);
  EXPECT_TRUE(matcher) << pattern.text;
  std::vector<std::size_t> starts;
  for (std::size_t at = 0; matcher && (at = matcher->find(text, at)) != LineMatcher::kNone;) {
    starts.push_back(at);
    const std::size_t newline = text.find('\n', at);
    if (newline == std::string_view::npos) break;
    at = newline + 1;
  }
  return starts;
}

TEST(LineMatcher, FindsTheFirstMatchOfEachLine) {
  using Starts = std::vector<std::size_t>;
  EXPECT_EQ(lines_of({"b"}, "ab b\nxx\nb\n"), (Starts{1, 8}));
  EXPECT_EQ(lines_of({"^b"}, "ab\nb\n"), (Starts{3}));
  EXPECT_EQ(lines_of({"b$"}, "ab\nbc\n"), (Starts{1}));
  EXPECT_EQ(lines_of({"^$"}, "a\n\nb\n"), (Starts{2}));
  EXPECT_EQ(lines_of({"^"}, "a\nb\n"), (Starts{0, 2}));
  EXPECT_EQ(lines_of({"a\\s*b"}, "a\nb\na b"), (Starts{4}));
  EXPECT_EQ(lines_of({"[^x]y"}, "\ny\nay"), (Starts{3}));
  EXPECT_EQ(lines_of({"(?s)a.b"}, "a\nb\naxb"), (Starts{4}));
  EXPECT_EQ(lines_of({"a.b", Syntax::literal}, "axb\na.b\n"), (Starts{4}));
  EXPECT_EQ(lines_of({"ÄB", Syntax::literal, Case::ignored}, "xx\näb\n"), (Starts{3}));
  EXPECT_EQ(lines_of({"kelvin", Syntax::literal, Case::ignored},
                     "x\n\xE2\x84\xAA"
                     "elvin\n"),
            (Starts{2}));
  EXPECT_EQ(lines_of({"dog|cat|bird"}, "a cat and dog\nx\nbirdcat\n"), (Starts{2, 16}));
  EXPECT_EQ(lines_of({"dog$|c.t|b"}, "dogs\ncut\nab\ndog"), (Starts{5, 10, 12}));
  EXPECT_EQ(lines_of({"w.rd", Syntax::regex, Case::ignored}, "x\nWORD\n"), (Starts{2}));
}

// A literal that occurs on nearly every line and never decides must not change the answer.
TEST(LineMatcher, GivesUpAUselessLiteral) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "int x\n";
  text += "int y = 7\nint x\n";
  EXPECT_EQ(lines_of({"int .*\\d"}, text), (std::vector<std::size_t>{600}));
}

TEST(LineMatcher, RefusesWhatItCannotSearch) {
  EXPECT_FALSE(LineMatcher::compile({""}));
  EXPECT_FALSE(LineMatcher::compile({"a\nb"}));
  EXPECT_FALSE(LineMatcher::compile({"("}));
  EXPECT_FALSE(LineMatcher::compile({"a)|(b"}));
  EXPECT_FALSE(LineMatcher::compile({"(a)\\1"}));
  EXPECT_FALSE(LineMatcher::compile({"\xff"}));
  EXPECT_FALSE(LineMatcher::compile({std::string(5000, 'a')}));
  EXPECT_TRUE(LineMatcher::compile({"(", Syntax::literal}));
}

}  // namespace
}  // namespace relay::search
