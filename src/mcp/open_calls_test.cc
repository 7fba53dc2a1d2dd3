#include "mcp/open_calls.h"

#include <gmock/gmock.h>

#include "mcp/server_fixture.h"

namespace relay::mcp {
namespace {

class OpenCallsTest : public ServerTest {
 protected:
  OpenCallsTest() {
    add("forever", R"({"type":"object"})",
        [](serving::Context&, authority::Arguments) -> io::Task<protocol::ToolResult> {
          RELAY_CO_CHECK(co_await io::sleep_for(std::chrono::hours(1)));
          co_return protocol::ToolResult::text("never");
        });
  }
  static std::string message_of(const RecordingReply& reply) {
    if (!reply.answer || !reply.answer->is_object()) return "no answer";
    return std::string(json::view(reply.answer->at("error").at("message").as_string()));
  }
  bool answer_all() {
    bool is_done = false;
    auto body = [](Server& server, bool& done) -> io::Task<void> {
      RELAY_CO_CHECK(co_await server.answer_all());
      done = true;
      co_return Result<void>{};
    };
    io::spawn(loop_.get_executor(), body(server_, is_done), "stop");
    poll();
    return is_done;
  }
};

TEST_F(OpenCallsTest, EachIsAnsweredWhenTheServerStops) {
  const auto session = open_session();
  const auto legacy = send_legacy(session, "5", "tools/call", R"({"name":"forever","arguments":{}})");
  const auto modern = send_modern("tools/call", modern_params(R"("name":"forever","arguments":{})"));
  EXPECT_EQ(server_.open_calls()->size(), 2U);
  EXPECT_FALSE(legacy->answer || modern->answer);
  EXPECT_TRUE(answer_all());
  EXPECT_THAT(message_of(*legacy), testing::HasSubstr("the server is stopping"));
  EXPECT_THAT(message_of(*modern), testing::HasSubstr("the server is stopping"));
  EXPECT_EQ(server_.open_calls()->size(), 0U);
}

TEST_F(OpenCallsTest, ACallThatComesLaterIsAnsweredToo) {
  EXPECT_TRUE(answer_all());
  const auto late = send_modern("tools/call", modern_params(R"("name":"echo","arguments":{"message":"hi"})"));
  EXPECT_THAT(message_of(*late), testing::HasSubstr("the server is stopping"));
}

TEST_F(OpenCallsTest, ACallThatItsClientCancelsGetsNoAnswer) {
  const auto reply = send_modern("tools/call", modern_params(R"("name":"forever","arguments":{})"));
  reply->abandon();
  poll();
  EXPECT_EQ(reply->answer, json::value());
  EXPECT_EQ(server_.open_calls()->size(), 0U);
}

}  // namespace
}  // namespace relay::mcp
