#include "base/json.h"

#include <limits>

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
  for (const char* bad : {"", "{", "\"\xff\"", "1 2", "{\"a\":1,}", "nul", "'a'"})
    EXPECT_FALSE(parse(bad)) << bad;
}

TEST(Json, NumbersAreWrittenAsPeopleWriteThem) {
  const auto rewrite = [](const char* text) { return write(parse(text).value()); };
  for (const char* text : {"0", "-1", "1.5", "0.002", "-0.25", "9223372036854775807", "-9223372036854775808",
                           "18446744073709551615", "300000.5", "0.1"})
    EXPECT_EQ(rewrite(text), text);
  EXPECT_EQ(rewrite("8.024E0"), "8.024");
  EXPECT_EQ(rewrite("3e5"), "300000");
  EXPECT_EQ(rewrite("1e300"), "1e+300");
  EXPECT_EQ(rewrite("5e-324"), "5e-324");
  EXPECT_EQ(write(value(std::numeric_limits<double>::infinity())), "null");
  EXPECT_EQ(write(value(std::numeric_limits<double>::quiet_NaN())), "null");
}

TEST(Json, EveryKindOfValueReadsBackTheSame) {
  const value all =
      parse(
          R"({"a":[1,-2,18446744073709551615,1.7976931348623157e308,2.2250738585072014e-308,"x\ny\u0001","",true,false,null,[],{}],"b":{"":{"c":[[[]]]}}})")
          .value();
  EXPECT_EQ(parse(write(all)).value(), all);
  EXPECT_EQ(parse(write_pretty(all)).value(), all);
  EXPECT_EQ(parse(write_canonical(all)).value(), all);
}

TEST(Json, CanonicalTextIsSortedAtEveryLevel) {
  EXPECT_EQ(write_canonical(*parse(R"({"b":{"z":1,"a":[{"d":1,"c":2}]},"a":"é"})")),
            R"({"a":"é","b":{"a":[{"c":2,"d":1}],"z":1}})");
}

// Quoting looks at eight bytes at a time: each byte must be seen wherever it stands, also next to one that is
// escaped.
TEST(Json, QuotingEscapesWhatJsonDemandsAndNothingElse) {
  for (int c = 0; c < 256; ++c) {
    const char one = static_cast<char>(c);
    const std::string alone = quote(std::string_view(&one, 1));
    const bool is_plain = c >= 0x20 && c != '"' && c != '\\';
    EXPECT_EQ(alone.size() == 3, is_plain) << c;
    if (c < 128) EXPECT_EQ(view(parse(alone)->get_string()), std::string(1, one));
    for (std::size_t at = 0; at < 19; ++at) {
      std::string text(19, '!');
      text[at] = one;
      text[(at + 1) % 19] = '"';
      std::string expected(text.size(), '!');
      expected.replace(at, 1, alone.substr(1, alone.size() - 2));
      expected.replace((at + 1) % 19 + (at + 1 < 19 ? alone.size() - 3 : 0), 1, "\\\"");
      EXPECT_EQ(quote(text), '"' + expected + '"') << c << " at " << at;
    }
  }
  EXPECT_EQ(quote("\b\f\n\r\t\x01\x1f\x7f é€𝄞"), "\"\\b\\f\\n\\r\\t\\u0001\\u001f\x7f é€𝄞\"");
}

TEST(Json, TheEmptyObjectIsOneAndStaysEmpty) {
  const object& once = empty_object();
  object copy = once;
  copy["a"] = 1;
  EXPECT_TRUE(empty_object().empty());
  EXPECT_EQ(&empty_object(), &once);
}

TEST(Json, FindTextSeesThroughEscapedKeysAndStopsAtTheFirst) {
  const std::string_view text = R"( { "a\u0062" : [1, "}"] , "n":-1.0 ,"x":{"y":"\""},"n":2 } )";
  EXPECT_EQ(find_text(text, "ab"), R"([1, "}"])");
  EXPECT_EQ(find_text(text, "n"), "-1.0");
  EXPECT_EQ(find_text(text, "x"), R"({"y":"\""})");
  EXPECT_EQ(find_text(text, "y"), std::nullopt);
  EXPECT_EQ(find_text("{}", "y"), std::nullopt);
}

}  // namespace
}  // namespace relay::json
