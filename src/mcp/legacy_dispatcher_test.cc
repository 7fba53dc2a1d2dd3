#include "mcp/legacy_dispatcher.h"

#include "mcp/server_fixture.h"

namespace relay::mcp {
namespace {

class LegacyTest : public ServerTest {
 protected:
  LegacyTest() {
    add("ask", R"({"type":"object"})",
        [](serving::Context& context, authority::Arguments) -> io::Task<protocol::ToolResult> {
          std::vector<protocol::Ask> asks;
          asks.push_back({protocol::RootsRequest{}, ""});
          asks.push_back({protocol::ElicitForm{.message = "sure?"}, ""});
          RELAY_CO_TRY(const auto answers, co_await context.ask_all(std::move(asks)));
          co_return protocol::ToolResult::text(std::get<protocol::RootsResult>(answers[0]).roots.at(0).uri);
        });
    add("late", R"({"type":"object"})",
        [this](serving::Context& context, authority::Arguments) -> io::Task<protocol::ToolResult> {
          late_ = &context;
          RELAY_CO_CHECK(co_await io::sleep_for(std::chrono::hours(1)));
          co_return protocol::ToolResult::text("never");
        });
  }
  static protocol::Response response(const json::value& asked, std::string result) {
    return std::get<protocol::Response>(*protocol::parse_message(
        R"({"jsonrpc":"2.0","id":)" + json::write(asked.at("id")) + R"(,"result":)" + result + "}"));
  }
  serving::Context* late_ = nullptr;
};

TEST_F(LegacyTest, QuestionsAreRequestsOnTheStreamOfTheCall) {
  const auto session = open_session(R"({"roots":{},"elicitation":{}})");
  const auto reply = send_legacy(session, "1", "tools/call", R"({"name":"ask"})");
  ASSERT_EQ(reply->sent.size(), 2u);
  EXPECT_EQ(reply->sent[0].at("method").as_string(), "roots/list");
  session->take_answer(response(reply->sent[1], R"({"action":"accept","content":{}})"));
  poll();
  EXPECT_FALSE(reply->answer);
  session->take_answer(response(reply->sent[0], R"({"roots":[{"uri":"file:///x"}]})"));
  poll();
  ASSERT_TRUE(reply->answer);
  EXPECT_EQ(text_of(*reply), "file:///x");
}

TEST_F(LegacyTest, AClientThatCannotBeAskedIsNot) {
  const auto reply = send_legacy(open_session(), "1", "tools/call", R"({"name":"ask"})");
  EXPECT_TRUE(reply->sent.empty());
  EXPECT_TRUE(reply->answer->at("result").at("isError").as_bool());
}

TEST_F(LegacyTest, AnswersToRequestsNeverSentAreDropped) {
  const auto session = open_session(R"({"roots":{},"elicitation":{}})");
  session->take_answer(response(json::object{{"id", "relay-1"}}, R"({"roots":[]})"));
  const auto reply = send_legacy(session, "1", "tools/call", R"({"name":"ask"})");
  EXPECT_FALSE(reply->answer);
  session->take_answer(response(json::object{{"id", 1}}, "{}"));
  poll();
  EXPECT_FALSE(reply->answer);
}

TEST_F(LegacyTest, CancellationEndsTheCallWithoutAnAnswer) {
  const auto session = open_session(R"({"roots":{},"elicitation":{}})");
  const auto reply = send_legacy(session, "\"a\"", "tools/call", R"({"name":"ask"})");
  legacy_.notify(*session, {"notifications/cancelled", {{"requestId", "a"}}, ""});
  poll();
  EXPECT_TRUE(reply->finished());
  EXPECT_TRUE(reply->answer->is_null());
  EXPECT_EQ(reply->sent.size(), 4u) << "both questions are taken back";
  EXPECT_EQ(session->in_flight->size(), 0u);
}

TEST_F(LegacyTest, ProgressAfterTheEndIsDropped) {
  const auto session = open_session();
  const auto reply =
      send_legacy(session, "5", "tools/call", R"({"name":"late","_meta":{"progressToken":"p"}})");
  late_->progress(1);
  late_->progress(1);
  late_->progress(0.5);
  EXPECT_EQ(reply->sent.size(), 1u) << "progress only ever grows";
  reply->finish({"{}", 200});
  late_->progress(2);
  EXPECT_EQ(reply->sent.size(), 1u);
}

TEST_F(LegacyTest, IdsInUseAreRefused) {
  const auto session = open_session();
  send_legacy(session, "1", "tools/call", R"({"name":"late"})");
  EXPECT_EQ(error_code(*send_legacy(session, "1", "ping", "{}")), -32600);
}

// Transports wait for room before they hand a request over.
TEST_F(LegacyTest, ThereIsRoomAgainWhenARequestHasEnded) {
  const auto session = open_session();
  std::vector<std::shared_ptr<RecordingReply>> replies;
  int entered = 0;
  auto enter = [&]() -> io::Task<void> {
    RELAY_CO_CHECK(co_await session->in_flight->wait_for_room());
    ++entered;
    co_return Result<void>{};
  };
  for (std::size_t i = 1; i <= limits::kRequestsPerSession; ++i) {
    io::spawn(loop_.get_executor(), enter(), "room");
    poll();  // a transport waits first, then it hands the request over
    replies.push_back(send_legacy(session, std::to_string(i), "tools/call", R"({"name":"late"})"));
  }
  EXPECT_EQ(entered, static_cast<int>(limits::kRequestsPerSession));
  io::spawn(loop_.get_executor(), enter(), "room");
  poll();
  EXPECT_EQ(entered, static_cast<int>(limits::kRequestsPerSession)) << "one more waits";
  replies.front()->abandon();
  poll();
  EXPECT_EQ(entered, static_cast<int>(limits::kRequestsPerSession) + 1);
}

TEST_F(LegacyTest, LogLevelsAreKeptBySession) {
  add("log", R"({"type":"object"})",
      [](serving::Context& context, authority::Arguments) -> io::Task<protocol::ToolResult> {
        context.log(protocol::LogLevel::warning, "l", "careful");
        co_return protocol::ToolResult{};
      });
  const auto session = open_session();
  EXPECT_EQ(send_legacy(session, "1", "tools/call", R"({"name":"log"})")->sent.size(), 1u);
  send_legacy(session, "2", "logging/setLevel", R"({"level":"error"})");
  EXPECT_EQ(send_legacy(session, "3", "tools/call", R"({"name":"log"})")->sent.size(), 0u);
  EXPECT_EQ(error_code(*send_legacy(session, "4", "logging/setLevel", R"({"level":"loud"})")), -32602);
}

TEST_F(LegacyTest, SessionsAreBoundToTheirPrincipalAndTime) {
  const auto session = open_session();
  const std::string id = session->caller.session_id;
  EXPECT_EQ(server_.sessions().find(id, "mallory"), nullptr);
  EXPECT_EQ(server_.sessions().find(id, "alice"), session);
  clock_.advance(server_.options().session_idle + std::chrono::seconds(1));
  EXPECT_EQ(server_.sessions().find(id, "alice"), nullptr);
  EXPECT_TRUE(session->ended());
}

TEST_F(LegacyTest, ManySessionsThatAreOnlyOpenedEndNoOtherClients) {
  const auto used = open_session();
  ASSERT_TRUE(server_.sessions().find(used->caller.session_id, "alice"));
  clock_.advance(std::chrono::seconds(1));
  const auto opened_before = open_session();
  for (std::size_t i = 0; i < limits::kSessions + 100; ++i) {
    clock_.advance(std::chrono::milliseconds(1));
    open_session();
  }
  EXPECT_EQ(server_.sessions().size(), limits::kSessions);
  EXPECT_FALSE(used->ended());
  EXPECT_FALSE(opened_before->ended()) << "the flood displaces itself";
}

TEST_F(LegacyTest, WhenAllSessionsAreInUseTheLongestIdleGoesAfterAWhileAndNoneBefore) {
  std::vector<std::shared_ptr<Session>> sessions;
  for (std::size_t i = 0; i < limits::kSessions; ++i) {
    sessions.push_back(open_session());
    ASSERT_TRUE(server_.sessions().find(sessions.back()->caller.session_id, "alice"));
  }
  const auto one_more = [&] {
    const auto session = std::make_shared<Session>(loop_.get_executor(), sessions.front()->caller,
                                                   std::make_shared<RecordingReply>());
    return server_.sessions().add(session);
  };
  EXPECT_EQ(one_more().error().kind, ErrorKind::busy);
  clock_.advance(limits::kSessionSafe + std::chrono::seconds(1));
  EXPECT_TRUE(one_more());
  EXPECT_TRUE(std::ranges::any_of(sessions, [](const auto& session) { return session->ended(); }));
}

TEST_F(LegacyTest, InitializeWantsItsParameters) {
  Session session(loop_.get_executor(), {}, std::make_shared<RecordingReply>());
  for (const char* params : {"{}", R"({"protocolVersion":7,"capabilities":{},"clientInfo":{}})",
                             R"({"protocolVersion":"x","capabilities":[],"clientInfo":{}})"})
    EXPECT_FALSE(legacy_.initialize(session, request("1", "initialize", params))) << params;
}

}  // namespace
}  // namespace relay::mcp
