#include "base/glob.h"

#include <fnmatch.h>

#include <random>

#include <gtest/gtest.h>

#include "base/glob_parser.h"
#include "base/limits.h"

namespace relay {
namespace {

bool matches(std::string_view pattern, std::string_view path, Case letters = Case::sensitive) {
  const auto glob = Glob::parse(pattern, letters);
  EXPECT_TRUE(glob) << pattern;
  return glob && glob->matches(path);
}

struct Row {
  const char* pattern;
  const char* path;
  bool match;
};

TEST(Glob, Table) {
  const Row rows[] = {
      {"*.ts", "a.ts", true},
      {"*.ts", "a.tsx", false},
      {"*.ts", "d/a.ts", false},
      {"**/*.ts", "a.ts", true},
      {"**/*.ts", "d/e/a.ts", true},
      {"src/**", "src", false},
      {"src/**", "src/a", true},
      {"src/**", "src/a/b", true},
      {"src/**", "srcx/a", false},
      {"a/**/b", "a/b", true},
      {"a/**/b", "a/x/b", true},
      {"a/**/b", "a/x/y/b", true},
      {"a/**/b", "ab", false},
      {"**", "a", true},
      {"**", "a/b/c", true},
      {"a**b", "axxb", true},
      {"a**b", "a/b", false},
      {"?", "x", true},
      {"?", "ä", true},
      {"??", "ä", false},
      {"?", "", false},
      {"[abc]x", "bx", true},
      {"[abc]x", "dx", false},
      {"[a-c]", "b", true},
      {"[!a-c]", "d", true},
      {"[^a-c]", "b", false},
      {"[]x]", "]", true},
      {"[!]x]", "y", true},
      {"[a-]", "-", true},
      {"[ä-ü]", "ö", true},
      {"[[:digit:]]", "7", true},
      {"[[:alpha:]_]x", "_x", true},
      {"\\*", "*", true},
      {"\\*", "a", false},
      {"{a,b}.c", "b.c", true},
      {"{a,b}.c", "c.c", false},
      {"*.{ts,tsx}", "q.tsx", true},
      {"{a,b{c,d}}x", "bdx", true},
      {"{src,lib}/**/*.h", "lib/x/y.h", true},
      {"{a", "{a", true},
      {"{a}", "{a}", true},
      {"a,b", "a,b", true},
      {"x{,y}", "x", true},
      {"x{,y}", "xy", true},
      {"[{]a,b}", "{a,b}", true},
      {"*", ".hidden", true},
      {"a/*/c", "a/b/c", true},
      {"a/*/c", "a/b/b/c", false},
      {"*a*b*c", "xxaxxbxxc", true},
      {"*a*b*c", "xxaxxcxxb", false},
      {"**/a/**/b/*", "x/a/y/b/a/b/z", true},
      {"lib*", "library", true},
      {"lib*", "li", false},
      {"*", "", false},
      {"**/x/y", "x/x/y", true},
      {"", "a", false},
      {"a/b", "a", false},
      {"a", "a/b", false},
      {"a/**/b", "a/x", false},
      {"**/a/**", "a", false},
      {"**/a/**", "x/a/y", true},
      {"x*?", "x", false},
      {"x*?", "xy", true},
      {"/src/*", "src/a", true},
  };
  for (const Row& row : rows)
    EXPECT_EQ(matches(row.pattern, row.path), row.match) << row.pattern << " on " << row.path;
}

TEST(Glob, IgnoresCaseWhenAsked) {
  EXPECT_TRUE(matches("*.TXT", "a.txt", Case::ignored));
  EXPECT_TRUE(matches("[A-C]?x", "bYX", Case::ignored));
  EXPECT_FALSE(matches("*.TXT", "a.txt"));
}

// Neighbours of the letters in ASCII are no letters, and have no other case.
TEST(Glob, FoldsLettersOnly) {
  EXPECT_TRUE(matches("?a*z", "xAyZ", Case::ignored));
  EXPECT_TRUE(matches("?A*Z", "xaYz", Case::ignored));
  EXPECT_FALSE(matches("?@", "x`", Case::ignored));
  EXPECT_FALSE(matches("?\\[", "x{", Case::ignored));
  EXPECT_FALSE(matches("?[@]", "x`", Case::ignored));
  EXPECT_FALSE(matches("?[[]", "x{", Case::ignored));
  EXPECT_TRUE(matches("?[A]", "xa", Case::ignored));
  EXPECT_TRUE(matches("?[z]", "xZ", Case::ignored));
  EXPECT_FALSE(matches("?[!z]", "xZ", Case::ignored));
}

TEST(Glob, ACharacterIsAUtf8SequenceOrABrokenByte) {
  EXPECT_TRUE(matches("?", "\xc2\x80"));
  EXPECT_TRUE(matches("?", "\xf0\x90\x80\x80"));
  EXPECT_TRUE(matches("?", "\xf4\x8f\xbf\xbf"));
  for (const char* broken : {"\xc1\x80", "\xf5\x80", "\xe2\x82", "\xed\xa0"}) {
    EXPECT_FALSE(matches("?", broken));
    EXPECT_TRUE(matches("??", broken));
  }
  EXPECT_TRUE(matches("?", "\xff"));
}

TEST(Glob, ThePatternMayBeSoLongAndNotLonger) {
  EXPECT_TRUE(Glob::parse(std::string(limits::kGlobBytes, 'a')));
  EXPECT_FALSE(Glob::parse(std::string(limits::kGlobBytes + 1, 'a')));
}

TEST(Glob, ASlashAtTheEndIsNoSlashInIt) {
  EXPECT_FALSE(Glob::parse("a/")->has_slash());
  EXPECT_FALSE(Glob::parse("a")->has_slash());
  EXPECT_TRUE(Glob::parse("a/b")->has_slash());
  EXPECT_TRUE(Glob::parse("/a")->has_slash());
  EXPECT_TRUE(Glob::parse("{a,b/c}")->has_slash());
}

TEST(Glob, RefusesWhatItCannotMean) {
  EXPECT_FALSE(Glob::parse("[abc"));
  EXPECT_FALSE(Glob::parse("a\\"));
  EXPECT_FALSE(Glob::parse(std::string(5000, 'a')));
  EXPECT_FALSE(Glob::parse("{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}"));
}

TEST(Glob, HostilePatternsStayCheap) {
  std::string pattern, path;
  for (int i = 0; i < 100; ++i) pattern += "**/*a*/";
  for (int i = 0; i < 1000; ++i) path += "aaa/";
  EXPECT_FALSE(matches(pattern + "b", path + "c"));
  EXPECT_FALSE(matches("*a*a*a*a*a*a*a*a*a*a*a*a*b", std::string(4000, 'a')));
}

TEST(Glob, BeneathNeverSaysNoWrongly) {
  const auto beneath = [](std::string_view pattern, std::string_view directory) {
    return Glob::parse(pattern)->may_match_beneath(directory);
  };
  EXPECT_TRUE(beneath("src/*.cc", ""));
  EXPECT_TRUE(beneath("src/*.cc", "src"));
  EXPECT_FALSE(beneath("src/*.cc", "lib"));
  EXPECT_FALSE(beneath("src/*.cc", "src/deep"));
  EXPECT_TRUE(beneath("**/x", "any/where"));
  EXPECT_TRUE(beneath("{a,b}/c", "b"));
}

std::string random_text(std::mt19937& random, std::string_view alphabet, std::size_t max) {
  std::string text(random() % (max + 1), ' ');
  for (char& c : text) c = alphabet[random() % alphabet.size()];
  return text;
}

// fnmatch agrees wherever its language is ours: no braces, no globstar, no empty parts.
TEST(Glob, AgreesWithFnmatch) {
  std::mt19937 random(7);
  int compared = 0;
  for (int i = 0; i < 200'000; ++i) {
    const std::string pattern = random_text(random, "ab*?[]!-/\\", 8);
    const std::string path = random_text(random, "ab-/]", 6);
    const bool odd = pattern.empty() || path.empty() || pattern.contains("**") || pattern.contains("//") ||
                     path.contains("//") || pattern.contains("[") || pattern.front() == '/' ||
                     pattern.back() == '/' || path.front() == '/' || path.back() == '/' ||
                     pattern.contains("\\/");
    const auto glob = odd ? Result<Glob>(relay::fail(invalid(""))) : Glob::parse(pattern);
    if (!glob) continue;
    ++compared;
    EXPECT_EQ(glob->matches(path), ::fnmatch(pattern.c_str(), path.c_str(), FNM_PATHNAME) == 0)
        << pattern << " on " << path;
  }
  EXPECT_GT(compared, 10'000);
}

// The reference for globstars: plain recursion, exponential and obviously right.
bool reference(const std::vector<std::string>& pattern, std::size_t p, const std::vector<std::string>& path,
               std::size_t s) {
  if (p == pattern.size()) return s == path.size();
  if (pattern[p] == "**") {
    if (p + 1 == pattern.size()) return s < path.size();
    for (std::size_t skip = s; skip <= path.size(); ++skip) {
      if (reference(pattern, p + 1, path, skip)) return true;
    }
    return false;
  }
  return s < path.size() && ::fnmatch(pattern[p].c_str(), path[s].c_str(), 0) == 0 &&
         reference(pattern, p + 1, path, s + 1);
}

TEST(Glob, GlobstarsAgreeWithTheReference) {
  std::mt19937 random(11);
  const std::string_view parts[] = {"**", "a", "*", "a*", "?b"};
  const std::string_view names[] = {"a", "ab", "b"};
  for (int i = 0; i < 50'000; ++i) {
    std::vector<std::string> pattern, path;
    for (std::size_t n = random() % 5 + 1; n > 0; --n) {
      const std::string_view part = parts[random() % 5];
      if (part != "**" || pattern.empty() || pattern.back() != "**") pattern.emplace_back(part);
    }
    for (std::size_t n = random() % 5 + 1; n > 0; --n) path.emplace_back(names[random() % 3]);
    const std::string pattern_text = fmt::format("{}", fmt::join(pattern, "/"));
    const std::string path_text = fmt::format("{}", fmt::join(path, "/"));
    EXPECT_EQ(matches(pattern_text, path_text), reference(pattern, 0, path, 0))
        << pattern_text << " on " << path_text;
  }
}

TEST(NameMatches, StarCrossesSlashesAndNothingElseIsSpecial) {
  EXPECT_TRUE(name_matches("", "anything"));
  EXPECT_TRUE(name_matches("*", ""));
  EXPECT_TRUE(name_matches("a*c", "a/b/c"));
  EXPECT_TRUE(name_matches("ssh_*", "ssh_exec"));
  EXPECT_TRUE(name_matches("a?c", "abc"));
  EXPECT_TRUE(name_matches("*a*b", "xaxxb"));
  EXPECT_TRUE(name_matches("a**", "a"));
  EXPECT_FALSE(name_matches("a?c", "ac"));
  EXPECT_FALSE(name_matches("a*c", "abcd"));
  EXPECT_FALSE(name_matches("ssh_*", "xssh_exec"));
  EXPECT_FALSE(name_matches("abc?", "abc"));
  EXPECT_FALSE(name_matches("[ab]", "a"));
  EXPECT_FALSE(name_matches("{a,b}", "a"));
}

}  // namespace
}  // namespace relay
