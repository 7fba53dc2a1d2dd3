#include "search/literal_finder.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "base/bytes.h"

namespace relay::search {
namespace {

std::string random_text(std::mt19937& random, std::string_view alphabet, std::size_t size) {
  std::string text(size, ' ');
  for (char& c : text) c = alphabet[random() % alphabet.size()];
  return text;
}

TEST(LiteralFinder, AgreesWithStringFind) {
  std::mt19937 random(3);
  std::size_t found = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::string text = random_text(random, "abAB\n", random() % 200);
    const std::string needle = random_text(random, "abAB\n", random() % 6 + 1);
    const std::size_t from = random() % (text.size() + 2);
    const std::size_t expected = from <= text.size() ? text.find(needle, from) : std::string::npos;
    EXPECT_EQ(LiteralFinder(needle, Case::sensitive).find(text, from), expected) << text << " / " << needle;
    const std::size_t folded =
        from <= text.size() ? to_lower_ascii(text).find(to_lower_ascii(needle), from) : std::string::npos;
    EXPECT_EQ(LiteralFinder(needle, Case::ignored).find(text, from), folded) << text << " / " << needle;
    found += expected != std::string::npos;
  }
  EXPECT_GT(found, 1000U);
}

TEST(LiteralFinder, FindsAtEveryPlaceAndNeverBehindTheEnd) {
  for (std::size_t size = 1; size < 100; ++size) {
    for (std::size_t at = 0; at + 3 <= size; ++at) {
      std::string text(size, '.');
      text.replace(at, 3, "xyz");
      EXPECT_EQ(LiteralFinder("xyz", Case::sensitive).find(text, 0), at);
      EXPECT_EQ(LiteralFinder("XYZ", Case::ignored).find(text, 0), at);
      EXPECT_EQ(LiteralFinder("xyz", Case::sensitive).find(text, at + 1), LiteralFinder::kNone);
    }
  }
}

TEST(LiteralFinder, FoldingIsForLettersOnly) {
  // 0x20 apart, but no letters: '@' and '`', '[' and '{'.
  EXPECT_EQ(LiteralFinder("[`", Case::ignored).find("{@{` [`", 0), 5U);
}

TEST(CountNewlines, AgreesWithCount) {
  std::mt19937 random(5);
  for (int i = 0; i < 300; ++i) {
    const std::string text = random_text(random, "\na", random() % 20'000);
    EXPECT_EQ(count_newlines(text), static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')));
  }
}

}  // namespace
}  // namespace relay::search
