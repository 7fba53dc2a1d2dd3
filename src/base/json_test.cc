#include "base/json.h"

#include <gtest/gtest.h>

namespace relay::json {
namespace {

TEST(Json, KeepsTheSpellingOfNumbersWhenSplit) {
  const std::string text = R"( {"a" : 1.0, "b\u0041":[1e400, {"x":"}\"]"}], "c":12345678901234567890123 } )";
  const auto members = split_object(text);
  ASSERT_EQ(members.size(), 3U);
  EXPECT_EQ(members[0].text, "1.0");
  EXPECT_EQ(members[1].key, "bA");
  EXPECT_EQ(members[2].text, "12345678901234567890123");
  const auto items = split_array(members[1].text);
  ASSERT_EQ(items.size(), 2U);
  EXPECT_EQ(items[0], "1e400");
  EXPECT_EQ(items[1], R"({"x":"}\"]"})");
  EXPECT_EQ(find_text(text, "c"), "12345678901234567890123");
  EXPECT_FALSE(find_text(text, "d"));
}

TEST(Json, RefusesDepthSizeBadUtf8AndTrailingText) {
  EXPECT_TRUE(parse(std::string(60, '[') + std::string(60, ']')));
  EXPECT_FALSE(parse(std::string(80, '[') + std::string(80, ']')));
  EXPECT_FALSE(parse(std::string(200'000, '[')));
  EXPECT_EQ(parse("[1,2,3]", {.bytes = 4}).error().kind, ErrorKind::too_large);
  for (const char* bad : {"", "{", "\"\xff\"", "1 2", "{\"a\":1,}", "nul", "'a'"}) EXPECT_FALSE(parse(bad)) << bad;
}

TEST(Json, CanonicalTextIsSortedAtEveryLevel) {
  EXPECT_EQ(write_canonical(*parse(R"({"b":{"z":1,"a":[{"d":1,"c":2}]},"a":"é"})")), R"({"a":"é","b":{"a":[{"c":2,"d":1}],"z":1}})");
}

}  // namespace
}  // namespace relay::json
