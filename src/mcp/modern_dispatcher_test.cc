#include "mcp/modern_dispatcher.h"

#include "mcp/server_fixture.h"

namespace relay::mcp {
namespace {

constexpr const char* kForm = R"({"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]})";

class ModernTest : public ServerTest {
 protected:
  ModernTest() {
    add("ask", R"({"type":"object"})",
        [](serving::Context& context, authority::Arguments) -> io::Task<protocol::ToolResult> {
          protocol::ElicitForm form{"how many?", protocol::JsonText::trusted(kForm)};
          RELAY_CO_TRY(const protocol::ElicitResult answer,
                       co_await context.elicit(std::move(form), "count"));
          context.progress(1);
          co_return protocol::ToolResult::text(json::write(answer.content));
        });
    add("forever", R"({"type":"object"})",
        [this](serving::Context&, authority::Arguments) -> io::Task<protocol::ToolResult> {
          struct Note {
            bool& ended;
            ~Note() { ended = true; }
          } note{forever_ended_};
          RELAY_CO_CHECK(co_await io::sleep_for(std::chrono::hours(1)));
          co_return protocol::ToolResult::text("never");
        });
  }
  std::shared_ptr<RecordingReply> ask(std::string members = R"("name":"ask","arguments":{})",
                                      std::string principal = "alice") {
    return send_modern("tools/call", modern_params(std::move(members), R"({"elicitation":{}})"),
                       std::move(principal));
  }
  static std::string retry_members(const RecordingReply& asked, std::string answer) {
    return R"("name":"ask","arguments":{},"inputResponses":{"count":)" + answer + R"(},"requestState":)" +
           json::write(asked.answer->at("result").at("requestState"));
  }
  bool forever_ended_ = false;
};

TEST_F(ModernTest, CallIsAnsweredWithinTheRequest) {
  auto reply = std::make_shared<RecordingReply>();
  bool answered_at_once = false;
  io::asio::post(loop_, [&] {
    modern_.handle({},
                   request("7", "tools/call", modern_params(R"("name":"echo","arguments":{"message":"hi"})")),
                   reply, nullptr);
    answered_at_once = reply->answer.has_value();
  });
  poll();
  EXPECT_TRUE(answered_at_once) << "without another turn of the loop";
  ASSERT_TRUE(reply->answer);
  EXPECT_EQ(text_of(*reply), "hi");
  EXPECT_EQ(reply->answer->at("result").at("resultType").as_string(), "complete");
}

TEST_F(ModernTest, UnknownMethodAndToolAndVersion) {
  const auto method = send_modern("no/method", modern_params(""));
  EXPECT_EQ(error_code(*method), -32601);
  EXPECT_EQ(method->status, 404);
  EXPECT_EQ(error_code(*send_modern("tools/call", modern_params(R"("name":"none")"))), -32602);
  const auto version = send_modern(
      "tools/list",
      R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"2099-01-01","io.modelcontextprotocol/clientCapabilities":{}}})");
  EXPECT_EQ(error_code(*version), -32022);
  EXPECT_EQ(version->status, 400);
}

TEST_F(ModernTest, AParkedCallIsResumedByItsState) {
  const auto asked = ask();
  ASSERT_TRUE(asked->answer);
  EXPECT_EQ(asked->answer->at("result").at("resultType").as_string(), "input_required");
  EXPECT_EQ(server_.parked().size(), 1u);
  const auto done = ask(retry_members(*asked, R"({"action":"accept","content":{"n":3}})"));
  ASSERT_TRUE(done->answer);
  EXPECT_EQ(text_of(*done), R"({"n":3})");
  EXPECT_EQ(done->sent.size(), 1u) << "progress goes to the request that resumed it";
  EXPECT_EQ(asked->sent.size(), 0u);
  EXPECT_EQ(server_.parked().size(), 0u);
}

TEST_F(ModernTest, MissingAndIllTypedAnswersAreAskedForAgain) {
  auto asked = ask();
  for (const char* answer : {"7", R"({"action":"accept","content":{"n":"x"}})", R"({"action":"perhaps"})"}) {
    asked = ask(retry_members(*asked, answer));
    ASSERT_TRUE(asked->answer);
    EXPECT_EQ(asked->answer->at("result").at("resultType").as_string(), "input_required") << answer;
  }
  EXPECT_EQ(text_of(*ask(retry_members(*asked, R"({"action":"accept","content":{"n":1}})"))), R"({"n":1})");
}

TEST_F(ModernTest, StateOfAnotherCallerOrTimeIsRefused) {
  const auto asked = ask();
  const std::string good = retry_members(*asked, R"({"action":"decline"})");
  EXPECT_EQ(error_code(*ask(good, "mallory")), -32602);
  EXPECT_EQ(server_.parked().size(), 1u);
  clock_.advance(server_.options().parked_for);
  EXPECT_EQ(error_code(*ask(good)), -32602);
}

TEST_F(ModernTest, OnlyDeclaredCapabilitiesAreAskedFor) {
  const auto reply = send_modern("tools/call", modern_params(R"("name":"ask","arguments":{})"));
  EXPECT_EQ(error_code(*reply), -32021);
  EXPECT_EQ(reply->status, 400);
  EXPECT_TRUE(
      reply->answer->at("error").at("data").at("requiredCapabilities").as_object().contains("elicitation"));
}

TEST_F(ModernTest, ParkedCallsAreBounded) {
  for (std::size_t i = 0; i < limits::kParkedCalls; ++i) ask();
  EXPECT_EQ(server_.parked().size(), limits::kParkedCalls);
  const auto refused = ask();
  ASSERT_TRUE(refused->answer);
  EXPECT_TRUE(refused->answer->at("result").at("isError").as_bool());
  EXPECT_EQ(server_.parked().size(), limits::kParkedCalls);
}

TEST_F(ModernTest, AnAbandonedReplyCancelsItsCall) {
  const auto reply = send_modern("tools/call", modern_params(R"("name":"forever")"));
  EXPECT_FALSE(forever_ended_);
  reply->abandon();
  poll();
  EXPECT_TRUE(forever_ended_);
  EXPECT_TRUE(reply->finished());
}

TEST_F(ModernTest, ListenersHearWhatTheyAskedFor) {
  const auto tools =
      send_modern("subscriptions/listen", modern_params(R"("notifications":{"toolsListChanged":true})"));
  const auto prompts =
      send_modern("subscriptions/listen", modern_params(R"("notifications":{"promptsListChanged":true})"));
  ASSERT_EQ(tools->sent.size(), 1u);
  EXPECT_EQ(tools->sent[0].at("method").as_string(), "notifications/subscriptions/acknowledged");
  for (int i = 0; i < 5; ++i) catalogue_.report_tools_changed();
  poll();
  EXPECT_EQ(tools->sent.size(), 2u) << "a burst is one notification";
  EXPECT_EQ(prompts->sent.size(), 1u);
  tools->abandon();
  catalogue_.report_tools_changed();
  poll();
  EXPECT_EQ(tools->sent.size(), 2u);
}

TEST_F(ModernTest, WatchesAreCountedAcrossEras) {
  const auto session = open_session();
  send_legacy(session, "1", "resources/subscribe", R"({"uri":"a:b"})");
  const auto listener = send_modern("subscriptions/listen",
                                    modern_params(R"("notifications":{"resourceSubscriptions":["a:b"]})"));
  EXPECT_EQ(server_.subscriptions().watched(), 1u);
  listener->abandon();
  EXPECT_EQ(server_.subscriptions().watched(), 1u);
  server_.sessions().end(session->caller.session_id);
  EXPECT_EQ(server_.subscriptions().watched(), 0u);
}

TEST_F(ModernTest, TasksBelongToTheirPrincipal) {
  add(
      "work", R"({"type":"object"})",
      [](serving::Context&, authority::Arguments) -> io::Task<protocol::ToolResult> {
        co_return protocol::ToolResult::text("worked");
      },
      protocol::TaskSupport::required);
  const std::string can = R"({"extensions":{"io.modelcontextprotocol/tasks":{}}})";
  EXPECT_EQ(error_code(*send_modern("tools/call", modern_params(R"("name":"work")"))), -32021);
  const auto created = send_modern("tools/call", modern_params(R"("name":"work")", can));
  const json::value& task = created->answer->at("result");
  EXPECT_EQ(task.at("resultType").as_string(), "task");
  const std::string id = R"("taskId":)" + json::write(task.at("taskId"));
  const auto got = send_modern("tasks/get", modern_params(id, can));
  EXPECT_EQ(got->answer->at("result").at("status").as_string(), "completed");
  EXPECT_EQ(got->answer->at("result").at("result").at("content").at(0).at("text").as_string(), "worked");
  EXPECT_EQ(error_code(*send_modern("tasks/get", modern_params(id, can), "mallory")), -32602);
  clock_.advance(limits::kTaskTtlDefault);
  EXPECT_EQ(error_code(*send_modern("tasks/get", modern_params(id, can))), -32602) << "expired";
}

TEST_F(ModernTest, PagesAreCutAndCursorsHold) {
  for (int i = 0; i < 150; ++i)
    add("t" + std::to_string(i), R"({"type":"object"})",
        [](serving::Context&, authority::Arguments) -> io::Task<protocol::ToolResult> {
          co_return protocol::ToolResult{};
        });
  const auto first = send_modern("tools/list", modern_params(""));
  EXPECT_EQ(first->answer->at("result").at("tools").as_array().size(), limits::kPageItems);
  const std::string cursor = R"("cursor":)" + json::write(first->answer->at("result").at("nextCursor"));
  const auto second = send_modern("tools/list", modern_params(cursor));
  EXPECT_EQ(second->answer->at("result").at("tools").as_array().size(), 153 - limits::kPageItems);
  EXPECT_FALSE(second->answer->at("result").as_object().contains("nextCursor"));
  EXPECT_EQ(error_code(*send_modern("prompts/list", modern_params(cursor))), -32602);
}

}  // namespace
}  // namespace relay::mcp
