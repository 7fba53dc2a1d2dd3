#include "mcp/message_stream.h"

#include <gtest/gtest.h>
#include <boost/asio/io_context.hpp>

#include "mcp/catalogue.h"
#include "mcp/result_members.h"

namespace relay::mcp {
namespace {

class MessageStreamTest : public testing::Test {
 protected:
  io::asio::io_context loop_;
  MessageStream stream_{loop_.get_executor(), MessageStream::Replay::yes};
};

TEST_F(MessageStreamTest, AnAnswerAloneIsNotAnEvent) {
  stream_.finish({"answer", 200});
  EXPECT_TRUE(stream_.has_answer());
  EXPECT_FALSE(stream_.has_messages());
  EXPECT_EQ(stream_.take_answer()->text, "answer");
  EXPECT_TRUE(stream_.is_drained());
}

TEST_F(MessageStreamTest, EventsAreReplayedFromWhereTheClientWas) {
  stream_.turn_into_events();
  for (const char* text : {"a", "b"}) stream_.send(text);
  stream_.finish({"c", 200});
  stream_.attach();
  EXPECT_EQ(stream_.take()->text, "a");
  EXPECT_EQ(stream_.take()->text, "b");
  stream_.attach(1);
  EXPECT_EQ(stream_.take()->text, "b");
  EXPECT_EQ(stream_.take()->text, "c");
  EXPECT_EQ(stream_.take(), std::nullopt);
  EXPECT_TRUE(stream_.is_drained());
}

TEST_F(MessageStreamTest, NothingComesAfterTheAnswer) {
  stream_.finish({"answer", 200});
  stream_.send("late");
  stream_.finish({"second", 200});
  EXPECT_FALSE(stream_.has_messages());
  EXPECT_EQ(stream_.take_answer()->text, "answer");
}

TEST_F(MessageStreamTest, TheBufferIsBoundedAndKeepsTheNewest) {
  stream_.turn_into_events();
  for (std::size_t i = 0; i < 2 * limits::kReplayEvents; ++i) stream_.send("x");
  stream_.finish({std::string(2 * limits::kReplayBytes, 'y'), 200});
  stream_.attach();
  EXPECT_EQ(stream_.take()->text.front(), 'y');
  EXPECT_EQ(stream_.take(), std::nullopt);
}

TEST_F(MessageStreamTest, ANewWriterTakesOver) {
  const auto first = stream_.attach();
  const auto second = stream_.attach();
  EXPECT_FALSE(stream_.is_writer(first));
  EXPECT_TRUE(stream_.is_writer(second));
}

TEST(EventIds, RoundTripAndRefuse) {
  const auto id = find_event_id(format_event_id(7, 12));
  ASSERT_TRUE(id);
  EXPECT_EQ(id->stream, 7u);
  EXPECT_EQ(id->number, 12u);
  for (const char* text : {"", "7", "7-", "-7", "7-x", "a-1", "99999999999999999999999-1", "1-1-1"})
    EXPECT_FALSE(find_event_id(text)) << text;
}

TEST(ResultMembers, RawResultsKeepTheirBytes) {
  const ResultMembers outcome =
      outcome_of_raw(R"({"resultType":"complete","content":[{"n":1.50}],"_meta":{"a":1.0},"ttlMs":5})",
                     protocol::kLatestLegacy);
  EXPECT_EQ(write_legacy_result(outcome), R"({"content":[{"n":1.50}],"_meta":{"a":1.0}})");
  EXPECT_EQ(
      write_modern_result(outcome, R"({"name":"r"})"),
      R"({"resultType":"complete","content":[{"n":1.50}],"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"r"},"a":1.0}})");
  EXPECT_EQ(write_legacy_result(outcome_of_raw("{}", protocol::kLatestLegacy)), "{}");
}

TEST(ResultMembers, AResultNamesOneServer) {
  constexpr std::string_view kRaw =
      R"({"content":[],"_meta":{"a":1.0,"io.modelcontextprotocol/serverInfo":{"name":"upstream"},"b":2}})";
  EXPECT_EQ(
      write_modern_result(outcome_of_raw(kRaw, protocol::kLatestModern), R"({"name":"r"})"),
      R"({"resultType":"complete","content":[],"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"r"},"a":1.0,"b":2}})");
  EXPECT_EQ(write_legacy_result(outcome_of_raw(kRaw, protocol::kLatestLegacy)),
            R"({"content":[],"_meta":{"a":1.0,"b":2}})");
}

}  // namespace
}  // namespace relay::mcp
