#include "net/sse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace relay::net {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

std::string show(const SseEvent& event) {
  return event.event + "|" + event.data + "|" + event.id.value_or("-") + "|" +
         (event.retry ? std::to_string(event.retry->count()) : "-");
}

std::vector<std::string> parse_events(std::string_view bytes, std::size_t step) {
  SseParser parser;
  std::vector<std::string> shown;
  while (!bytes.empty()) {
    const auto events = parser.feed(bytes.substr(0, step));
    EXPECT_TRUE(events);
    for (const SseEvent& event : *events) shown.push_back(show(event));
    bytes.remove_prefix(std::min(step, bytes.size()));
  }
  return shown;
}

class SseSplit : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Sizes, SseSplit, testing::Values(1, 2, 3, 7, 31, 1000));

TEST_P(SseSplit, ReadsFieldsInAnyOrder) {
  EXPECT_THAT(parse_events("data: a\nid: 7\nevent: x\nretry: 20\n\n", GetParam()), ElementsAre("x|a|7|20"));
}
TEST_P(SseSplit, JoinsDataLines) {
  EXPECT_THAT(parse_events("data: a\ndata:\ndata:  b\n\n", GetParam()), ElementsAre("|a\n\n b|-|-"));
}
TEST_P(SseSplit, TakesEveryLineEnd) {
  EXPECT_THAT(parse_events("data: 1\r\n\r\ndata: 2\r\rdata: 3\n\ndata: 4\r\n\n", GetParam()),
              ElementsAre("|1|-|-", "|2|-|-", "|3|-|-", "|4|-|-"));
}
TEST_P(SseSplit, SkipsOneByteOrderMarkAtTheStartOnly) {
  EXPECT_THAT(parse_events("\xef\xbb\xbf"
                           "data: 1\n\n\xef\xbb\xbf"
                           "data: 2\n\n",
                           GetParam()),
              ElementsAre("|1|-|-"));
}
TEST_P(SseSplit, GivesNoEventWithoutDataOrBlankLine) {
  EXPECT_THAT(parse_events(": comment\n\nid: 3\nevent: x\n\ndata: unfinished", GetParam()), ElementsAre());
}
TEST_P(SseSplit, KeepsAnEmptyDataLineAsAnEvent) {
  EXPECT_THAT(parse_events("id: 1\ndata\n\nid: 2\ndata:\n\n", GetParam()), ElementsAre("||1|-", "||2|-"));
}
TEST_P(SseSplit, IgnoresBadIdsAndRetries) {
  using namespace std::string_literals;
  EXPECT_THAT(parse_events("id: a\0b\nretry: 1x\nretry: 99999999999\ndata: d\nunknown: z\n\n"s, GetParam()),
              ElementsAre("|d|-|-"));
}
TEST_P(SseSplit, ReadsWhatFormatWrites) {
  const SseEvent event{.event = "e", .data = "line 1\nline 2\n\n", .id = "i", .retry = 5ms};
  EXPECT_THAT(parse_events(format_sse(event) + format_sse_comment("hi\nho"), GetParam()),
              ElementsAre(show(event)));
}

TEST(Sse, WritesFieldsInTheDocumentedOrder) {
  EXPECT_EQ(format_sse({.event = "x", .data = "a\r\nb\rc", .id = "7"}),
            "id: 7\nevent: x\ndata: a\ndata: b\ndata: c\n\n");
  EXPECT_EQ(format_sse({.data = ""}), "data: \n\n");
  EXPECT_EQ(format_sse_comment("ping"), ": ping\n\n");
}
TEST(Sse, KeepsLineBreaksOutOfNamesAndIds) {
  EXPECT_EQ(format_sse({.event = "x\ndata: evil", .data = "d", .id = "1\r\n"}),
            "id: 1  \nevent: x data: evil\ndata: d\n\n");
}
TEST(Sse, RemembersTheLastIdEvenOfAnEventWithoutData) {
  SseParser parser;
  ASSERT_TRUE(parser.feed("id: 1\ndata: x\n\nid: 2\nretry: 300\n\ndata: y\n\nid: 9\n"));
  EXPECT_EQ(parser.last_id(), "2");
  EXPECT_EQ(parser.retry(), 300ms);
}
TEST(Sse, FailsOnAnEventOverTheLimit) {
  for (const std::string_view text :
       {"data: 0123456789\n", "data: 01234\ndata: 56789\n", ": 0123456789012345", "0123456789abcdefg"}) {
    SseParser parser(12);
    EXPECT_EQ(parser.feed(text).error().kind, ErrorKind::too_large) << text;
  }
}

}  // namespace
}  // namespace relay::net
