#include "search/multi_literal.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "base/bytes.h"

namespace relay::search {
namespace {

std::size_t slowly(const std::vector<std::string>& texts, std::string_view haystack, std::size_t from) {
  std::size_t best = MultiLiteral::kNone;
  for (const std::string& text : texts)
    best = std::min(best, from <= haystack.size() ? haystack.find(text, from) : std::string_view::npos);
  return best;
}

std::string made_of(std::mt19937& random, std::string_view alphabet, std::size_t size) {
  std::string text(size, ' ');
  for (char& c : text) c = alphabet[random() % alphabet.size()];
  return text;
}

TEST(MultiLiteral, AgreesWithLookingForEach) {
  std::mt19937 random(5);
  std::size_t found = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::vector<std::string> texts, folded;
    for (std::size_t n = random() % MultiLiteral::kMost + 1; n > 0; --n)
      texts.push_back(made_of(random, "abcABC\n\xC3", random() % 6 + 1));
    for (const std::string& text : texts) folded.push_back(to_lower_ascii(text));
    const std::string haystack = made_of(random, "abcABC\n\xC3....", random() % 300);
    const std::size_t from = random() % (haystack.size() + 2);
    const std::size_t expected = slowly(texts, haystack, from);
    EXPECT_EQ(MultiLiteral(texts, Case::sensitive).find(haystack, from), expected) << haystack;
    EXPECT_EQ(MultiLiteral(texts, Case::ignored).find(haystack, from),
              slowly(folded, to_lower_ascii(haystack), from))
        << haystack;
    found += expected != MultiLiteral::kNone;
  }
  EXPECT_GT(found, 5000U);
}

TEST(MultiLiteral, FindsAtEveryPlace) {
  const MultiLiteral finder({"xyz", "needle"}, Case::sensitive);
  for (std::size_t size = 3; size < 120; ++size) {
    for (std::size_t at = 0; at + 3 <= size; ++at) {
      std::string text(size, 'x');
      text.replace(at, 3, "xyz");
      EXPECT_EQ(finder.find(text, 0), at);
      EXPECT_EQ(finder.find(std::string_view(text).substr(0, at + 2), 0), MultiLiteral::kNone);
    }
  }
}

}  // namespace
}  // namespace relay::search
