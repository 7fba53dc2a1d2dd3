#include "authority/arguments.h"

#include <gtest/gtest.h>

#include "authority/call.h"

namespace relay::authority {
namespace {

TEST(Arguments, ParsedTextIsKeptByteForByteBesideItsTree) {
  const auto arguments = Arguments::parse(R"({ "n": 1.50, "s":"\u0061" })");
  ASSERT_TRUE(arguments);
  EXPECT_EQ(arguments->text(), R"({ "n": 1.50, "s":"\u0061" })");
  EXPECT_EQ(json::find_string(arguments->object(), "s"), "a");
}

TEST(Arguments, OfAMessageAreCutFromItWhenTheirBytesAreWanted) {
  const auto message = std::make_shared<const std::string>(
      R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"name":"t","arguments":{"x": 1.0,"y":[ 1 ]}}})");
  const Arguments arguments = Arguments::of_message(message, json::object{{"x", 1.0}, {"y", json::array{1}}});
  EXPECT_EQ(arguments.text(), R"({"x": 1.0,"y":[ 1 ]})");
  EXPECT_EQ(Arguments(arguments).text().data(), arguments.text().data()) << "a copy shares the bytes";
}

TEST(Arguments, ThatRelayMakesAreWrittenCompactly) {
  const Arguments arguments(json::object{{"uri", "a"}});
  EXPECT_EQ(arguments.text(), R"({"uri":"a"})");
  EXPECT_EQ(Arguments().text(), "{}");
}

TEST(Arguments, ATextWithTwoReadingsIsRefused) {
  EXPECT_FALSE(Arguments::parse(R"({"path":"a","path":"b"})"));
  EXPECT_FALSE(Arguments::parse(R"({"a":[{"x":1,"x":1}]})"));
  EXPECT_TRUE(Arguments::parse(R"({"a:b":"c:d","e":{"a:b":1}})"));
}

TEST(Arguments, OnlyAnObjectIsOne) {
  for (const char* text : {"[]", "null", "\"x\"", "", "{", "{} {}"})
    EXPECT_FALSE(Arguments::parse(text)) << text;
}

// A confirmation is given for what a call does, however its bytes are spelled.
TEST(Arguments, SpellingDoesNotChangeTheDigest) {
  Call one, two, three;
  one.args = *Arguments::parse(R"({"a":1,"b":"x"})");
  two.args = *Arguments::parse(R"({ "b": "\u0078", "a": 1 })");
  three.args = *Arguments::parse(R"({"a":1,"b":"y"})");
  EXPECT_EQ(digest_of(one), digest_of(two));
  EXPECT_NE(digest_of(one), digest_of(three));
}

}  // namespace
}  // namespace relay::authority
