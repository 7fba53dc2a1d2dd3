#include "base/bytes.h"

#include <gtest/gtest.h>

namespace relay {
namespace {

TEST(Base64, RoundTripsEveryLengthAndRefusesWhatIsNotCanonical) {
  std::string bytes;
  for (int i = 0; i < 300; ++i) {
    EXPECT_EQ(find_base64(to_base64(bytes)), bytes);
    EXPECT_EQ(find_base64url(to_base64url(bytes)), bytes);
    bytes.push_back(static_cast<char>(i * 7));
  }
  EXPECT_EQ(to_base64("hello"), "aGVsbG8=");
  for (const char* bad : {"a", "aGVsbG8", "aGVsbG9=", "aGVs bG8=", "====", "aG=s"})
    EXPECT_FALSE(find_base64(bad)) << bad;
}

TEST(Utf8, PrefixAndSuffixNeverSplitACharacter) {
  const std::string text = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z";
  for (std::size_t max = 0; max <= text.size(); ++max) {
    EXPECT_TRUE(is_valid_utf8(utf8_prefix(text, max))) << max;
    EXPECT_TRUE(is_valid_utf8(utf8_suffix(text, max))) << max;
    EXPECT_LE(utf8_prefix(text, max).size(), max);
    EXPECT_LE(utf8_suffix(text, max).size(), max);
  }
}

TEST(Utf8, RefusesOverlongSurrogatesAndTruncated) {
  for (const char* bad :
       {"\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82", "\xff", "\x80"}) {
    EXPECT_FALSE(is_valid_utf8(bad));
    EXPECT_TRUE(is_valid_utf8(to_valid_utf8(bad)));
  }
}

TEST(Text, ComparesAndMeasures) {
  EXPECT_TRUE(equal_ignoring_case("Content-Type", "content-type"));
  EXPECT_FALSE(equal_in_constant_time("abc", "abd"));
  EXPECT_TRUE(equal_in_constant_time("abc", "abc"));
  EXPECT_EQ(edit_distance("polcy", "policy"), 1U);
  EXPECT_EQ(trim_ascii(" \t a b \r\n"), "a b");
}

}  // namespace
}  // namespace relay
