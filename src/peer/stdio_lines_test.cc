#include "peer/stdio_lines.h"

#include <gtest/gtest.h>

#include "peer/peer_params.h"

namespace relay::peer {
namespace {

TEST(StdioLines, come_out_the_same_however_they_arrive) {
  const std::string input = "one\n\ntwo two\r\nthis line is far too long for the limit \"id\":7}\nfour\nrest";
  for (const std::size_t size : {1UZ, 2UZ, 3UZ, 7UZ, 31UZ, input.size()}) {
    StdioLines lines(12);
    std::vector<std::string> seen;
    for (std::size_t at = 0; at < input.size(); at += size)
      for (const StdioLine& line : lines.feed(std::string_view(input).substr(at, size)))
        seen.push_back(line.over_limit
                           ? "over " + std::to_string(line.bytes) + line.tail.substr(line.tail.size() - 7)
                           : line.text);
    EXPECT_EQ(seen, (std::vector<std::string>{"one", "", "two two\r", "over 47\"id\":7}", "four"})) << size;
  }
}

TEST(StdioLines, keep_little_of_a_line_without_an_end) {
  StdioLines lines(1000);
  const std::string piece(100'000, 'x');
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(lines.feed(piece).empty());
  const auto done = lines.feed("\n");
  ASSERT_EQ(done.size(), 1u);
  EXPECT_TRUE(done.front().over_limit);
  EXPECT_EQ(done.front().bytes, 10'000'000u);
  EXPECT_LE(done.front().text.size() + done.front().tail.size(), 1024u);
}

TEST(SpelledId, is_seen_at_either_end) {
  EXPECT_EQ(find_spelled_id("", R"(xxx},"jsonrpc":"2.0","id":12})"), 12);
  EXPECT_EQ(find_spelled_id(R"({"jsonrpc":"2.0","id":5,"result":{"x":")", "..."), 5);
  EXPECT_EQ(find_spelled_id(R"({"id":5,"result":{"x":")", "}}"), 5);
  EXPECT_EQ(find_spelled_id(R"({"result":{"id":5,)", R"("id":"seven"})"), std::nullopt);
  EXPECT_EQ(find_spelled_id("", ""), std::nullopt);
}

TEST(WithMembers, joins_objects_as_text) {
  EXPECT_EQ(with_members("{}", R"("a":1)"), R"({"a":1})");
  EXPECT_EQ(with_members(R"( { "a" : 1.0 } )", R"("b":2)"), R"({"a" : 1.0,"b":2})");
  EXPECT_EQ(with_members("", ""), "{}");
  EXPECT_EQ(text_member(R"({"name":"a\"\u00e9"})", "name"), "a\"é");
  EXPECT_EQ(text_member(R"({"name":7})", "name"), "");
}

}  // namespace
}  // namespace relay::peer
