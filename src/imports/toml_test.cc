#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "imports/document.h"

namespace relay::imports {
namespace {

std::string parsed(std::string_view text) {
  const auto value = parse_toml(text);
  return value ? json::write(*value) : "error: " + value.error().message;
}

TEST(Toml, KeysAndTables) {
  EXPECT_EQ(parsed(""), "{}");
  EXPECT_EQ(parsed("# only a comment"), "{}");
  EXPECT_EQ(parsed("a = 1\r\nb-c = 2 # why\n\"d e\" = 3\n'f' = 4"), R"({"a":1,"b-c":2,"d e":3,"f":4})");
  EXPECT_EQ(parsed("a.b.c = 1\na.b.d = 2"), R"({"a":{"b":{"c":1,"d":2}}})");
  EXPECT_EQ(parsed("[a]\nx = 1\n[a.b]\ny = 2\n[ c . \"d.e\" ]\nz = 3"),
            R"({"a":{"x":1,"b":{"y":2}},"c":{"d.e":{"z":3}}})");
  EXPECT_EQ(parsed("[a.b]\nx = 1\n[a]\ny = 2"), R"({"a":{"b":{"x":1},"y":2}})");
  EXPECT_EQ(parsed("[[p]]\nn = 1\n[p.q]\nx = 1\n[[p]]\nn = 2\n[p.q]\nx = 2"),
            R"({"p":[{"n":1,"q":{"x":1}},{"n":2,"q":{"x":2}}]})");
}

TEST(Toml, Texts) {
  EXPECT_EQ(parsed(R"(a = "q\"\\\n\t\u00e9\U0001F600")"),
            "{\"a\":\"q\\\"\\\\\\n\\t\xC3\xA9\xF0\x9F\x98\x80\"}");
  EXPECT_EQ(parsed(R"(a = 'C:\raw')"), R"({"a":"C:\\raw"})");
  EXPECT_EQ(parsed("a = \"\"\"\none\ntwo \\\n   three\"\"\"\"\""), R"({"a":"one\ntwo three\"\""})");
  EXPECT_EQ(parsed("a = '''\n\\x'y'''"), R"({"a":"\\x'y"})");
  EXPECT_EQ(parsed("a = \"\"\nb = ''"), R"({"a":"","b":""})");
}

TEST(Toml, OtherValues) {
  EXPECT_EQ(parsed("a = [1, +2, -3, 1_000, 0xff, 0o17, 0b101]"), R"({"a":[1,2,-3,1000,255,15,5]})");
  EXPECT_EQ(parsed("a = [true, false]\nb = 1.5"), R"({"a":[true,false],"b":1.5})");
  EXPECT_EQ(parsed("a = 1979-05-27T07:32:00Z"), R"({"a":"1979-05-27T07:32:00Z"})");
  EXPECT_EQ(parsed("a = [ # one\n 'x',\n\n 'y', # two\n]"), R"({"a":["x","y"]})");
  EXPECT_EQ(parsed("a = { b = 1, c.d = 'x', 'e f' = [] }\nz = {}"),
            R"({"a":{"b":1,"c":{"d":"x"},"e f":[]},"z":{}})");
}

class NoToml : public testing::TestWithParam<const char*> {};

TEST_P(NoToml, IsRefusedWithItsLine) {
  EXPECT_THAT(parsed(GetParam()), testing::HasSubstr("not valid TOML (line ")) << GetParam();
}

INSTANTIATE_TEST_SUITE_P(Texts, NoToml,
                         testing::Values("a", "a =", "= 1", "a = 1 b = 2", "a = 1\na = 2", "a = \"x",
                                         "a = 'x\n'", "a = \"\"\"x", "a = [1", "a = [1 2]", "a = {b = 1",
                                         "a = {b}", "a = word", "a = \"\\q\"", "a = \"\\ud800\"",
                                         "a = \"\\u12\"", "[a", "[a]]", "[]", "[a]\n[a]", "a = 1\n[a]",
                                         "a = {}\n[a.b]", "a = {}\na.b = 1", "a = []\n[[a]]", "[a]\n[[a]]",
                                         "[[a]]\n[a]", "a.b = 1\na.b.c = 2", "[\x01[m", "[a.]", "a..b = 1",
                                         "\"a\nb\" = 1", "a = 0x", "a = 1__"));

TEST(Toml, DepthIsBounded) {
  EXPECT_THAT(parsed("a = " + std::string(100'000, '[')), testing::HasSubstr("too deeply"));
  std::string tables = "a = ";
  for (int i = 0; i < 100'000; ++i) tables += "{a=";
  EXPECT_THAT(parsed(tables), testing::HasSubstr("too deeply"));
}

TEST(Toml, EveryBeginningOfATextIsReadToItsEnd) {
  const std::string text = "[[p]]\nn = \"\\u00e9\" # c\n[p.q]\nx = [1, {a = '''z'''}]\n\"k\" = 1979-05-27\n";
  for (std::size_t size = 0; size <= text.size(); ++size) parsed(text.substr(0, size));
  EXPECT_THAT(parsed(text), testing::StartsWith("{"));
}

}  // namespace
}  // namespace relay::imports
