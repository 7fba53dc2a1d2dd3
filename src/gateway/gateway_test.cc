#include "gateway/gateway.h"

#include "gateway/fleet_fixture.h"
#include "mcp/server_fixture.h"

namespace relay::gateway {
namespace {

using peer::Outgoing;
using peer::PeerAnswer;
using peer::RequestScope;

peer::PeerAnswer ok(std::string text) {
  return protocol::JsonText::trusted(std::move(text));
}

// A real server of both eras, with the real pipeline, in front of upstreams that do what a test says.
struct GatewayTest : FleetTest {
  std::optional<Gateway> gateway;
  std::optional<mcp::Server> server;
  std::optional<mcp::ModernDispatcher> modern;
  std::optional<mcp::LegacyDispatcher> legacy;

  GatewayTest() {
    gateway.emplace(loop.get_executor(), fleet, backend,
                    GatewayOptions{.list_timeout = std::chrono::milliseconds(200)});
    backend.add(*gateway);
    server.emplace(loop.get_executor(), backend, clock, random, mcp::ServerOptions{});
    modern.emplace(*server);
    legacy.emplace(*server);
  }
  ~GatewayTest() override {
    server->stop();
    close();
  }

  std::shared_ptr<mcp::RecordingReply> send(std::string method, std::string members,
                                            std::string capabilities = "{}") {
    auto reply = std::make_shared<mcp::RecordingReply>();
    const std::string params =
        "{" + members + (members.empty() ? "" : ",") +
        R"("_meta":{"progressToken":1,"traceparent":"00-1","io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":)" +
        capabilities + "}}";
    auto message = protocol::parse_message(R"({"jsonrpc":"2.0","id":1,"method":")" + method +
                                           R"(","params":)" + params + "}");
    modern->handle(authority::Caller{.principal = "alice"}, std::get<protocol::Request>(*std::move(message)),
                   reply, nullptr);
    run_until([&] { return reply->answer.has_value(); });
    return reply;
  }
  static std::string text_of(const mcp::RecordingReply& reply) {
    return reply.answer ? json::write(*reply.answer) : "nothing";
  }
};

TEST_F(GatewayTest, ArgumentsAndResultsPassAsTheyWereSpelled) {
  const auto one = fleet.add("one");
  one->offer_tools({"echo"});
  std::string whole;
  one->handler = [&](Outgoing, peer::RequestScope&) -> io::Task<peer::PeerAnswer> {
    co_return ok(R"({"content":[],"n":1.50e0,"_meta":{"k":2.0}})");
  };
  const auto reply = send("tools/call", R"("name":"one__echo","arguments":{"x":1.0,"y":[ 1 ]})");
  ASSERT_EQ(one->sent.size(), 1U);
  EXPECT_EQ(one->sent[0].params, R"({"name":"echo","arguments":{"x":1.0,"y":[ 1 ]}})");
  EXPECT_EQ(json::write(one->sent[0].meta), R"({"traceparent":"00-1"})");
  EXPECT_NE(text_of(*reply).find("\"content\":[]"), std::string::npos) << text_of(*reply);
}

TEST_F(GatewayTest, TheServersOwnErrorIsTheClientsError) {
  const auto one = fleet.add("one");
  one->offer_tools({"echo"});
  one->handler = [](Outgoing, peer::RequestScope&) -> io::Task<peer::PeerAnswer> {
    co_return peer::PeerAnswer(std::unexpect, protocol::RpcError{-32099, "no luck", {}});
  };
  const auto reply = send("tools/call", R"("name":"one__echo")");
  EXPECT_NE(text_of(*reply).find("-32099"), std::string::npos) << text_of(*reply);
}

TEST_F(GatewayTest, AConnectionThatFailsIsAToolErrorThatSaysWhy) {
  const auto one = fleet.add("one");
  one->offer_tools({"echo"});
  one->handler = [](Outgoing, peer::RequestScope&) -> io::Task<peer::PeerAnswer> {
    co_return fail(unavailable("one died: exited with code 3"));
  };
  const auto reply = send("tools/call", R"("name":"one__echo")");
  EXPECT_NE(text_of(*reply).find("exited with code 3"), std::string::npos) << text_of(*reply);
  EXPECT_NE(text_of(*reply).find("\"isError\":true"), std::string::npos) << text_of(*reply);
}

TEST_F(GatewayTest, PolicyJudgesBeforeTheServerHears) {
  const auto one = fleet.add("one");
  one->offer_tools({"echo"});
  const auto reply = send("tools/call", R"("name":"one__echo","arguments":{"x":"secret"})");
  EXPECT_TRUE(one->sent.empty());
  EXPECT_NE(text_of(*reply).find("isError"), std::string::npos) << text_of(*reply);
}

TEST_F(GatewayTest, AQuestionInMidCallReachesTheClientAndItsAnswerTheServer) {
  const auto one = fleet.add("one");
  one->offer_tools({"ask"});
  std::string got;
  one->handler = [&](Outgoing, peer::RequestScope& exchange) -> io::Task<peer::PeerAnswer> {
    std::vector<peer::Question> questions;
    questions.push_back({"", "elicitation/create",
                         protocol::JsonText::trusted(
                             R"({"message":"Sure?","requestedSchema":{"type":"object","properties":{}}})")});
    RELAY_CO_TRY(const auto answers, co_await exchange.ask(std::move(questions)));
    got = answers[0].text();
    co_return ok(R"({"content":[{"type":"text","text":"done"}]})");
  };
  const auto first = send("tools/call", R"("name":"one__ask")", R"({"elicitation":{}})");
  const json::object& result = first->answer->at("result").as_object();
  ASSERT_EQ(json::find_string(result, "resultType"), "input_required") << text_of(*first);
  EXPECT_NE(text_of(*first).find("[one] Sure?"), std::string::npos);
  const std::string key(result.at("inputRequests").as_object().begin()->key());
  const auto second = send("tools/call",
                           R"("name":"one__ask","inputResponses":{")" + key +
                               R"(":{"action":"accept","content":{"a":1}}},"requestState":)" +
                               json::write(result.at("requestState")),
                           R"({"elicitation":{}})");
  EXPECT_EQ(got, R"({"action":"accept","content":{"a":1}})");
  EXPECT_NE(text_of(*second).find("done"), std::string::npos) << text_of(*second);
}

TEST_F(GatewayTest, AClientThatCannotBeAskedGetsTheRightError) {
  const auto one = fleet.add("one");
  one->offer_tools({"ask"});
  one->handler = [&](Outgoing, peer::RequestScope& exchange) -> io::Task<peer::PeerAnswer> {
    std::vector<peer::Question> questions;
    questions.push_back(
        {"k", "sampling/createMessage", protocol::JsonText::trusted(R"({"messages":[],"maxTokens":1})")});
    RELAY_CO_TRY(const auto answers, co_await exchange.ask(std::move(questions)));
    co_return ok("{}");
  };
  const auto reply = send("tools/call", R"("name":"one__ask")");
  EXPECT_NE(text_of(*reply).find("-32021"), std::string::npos) << text_of(*reply);
}

TEST_F(GatewayTest, WhatTheServerMadeATaskIsATaskForTheClientToo) {
  const auto one = fleet.add("one");
  one->offer_tools({"slow"});  // a modern server declares nothing about tasks in its list
  const auto go = std::make_shared<io::Event>(loop.get_executor());
  one->handler = [go](Outgoing, peer::RequestScope& exchange) -> io::Task<peer::PeerAnswer> {
    exchange.became_task();
    RELAY_CO_CHECK(co_await go->wait());
    co_return ok(R"({"content":[{"type":"text","text":"done"}]})");
  };
  const auto created =
      send("tools/call", R"("name":"one__slow")", R"({"extensions":{"io.modelcontextprotocol/tasks":{}}})");
  const json::object& task = created->answer->at("result").as_object();
  ASSERT_EQ(json::find_string(task, "resultType"), "task") << text_of(*created);
  go->set();
  const std::string about = R"("taskId":)" + json::write(task.at("taskId"));
  std::string seen;
  run_until([&] {
    seen = text_of(*send("tasks/get", about, R"({"extensions":{"io.modelcontextprotocol/tasks":{}}})"));
    return seen.find("completed") != std::string::npos;
  });
  EXPECT_NE(seen.find("\"text\":\"done\""), std::string::npos) << seen;
}

TEST_F(GatewayTest, AClientWithoutTasksWaitsForTheAnswer) {
  const auto one = fleet.add("one");
  one->offer_tools({"slow"});
  one->handler = [&](Outgoing, peer::RequestScope& exchange) -> io::Task<peer::PeerAnswer> {
    exchange.became_task();
    co_return ok(R"({"content":[{"type":"text","text":"done"}]})");
  };
  EXPECT_NE(text_of(*send("tools/call", R"("name":"one__slow")")).find("\"text\":\"done\""),
            std::string::npos);
}

TEST_F(GatewayTest, ADeadServerCostsItsOwnToolsOnly) {
  fleet.add("dead");
  fleet.add("one")->offer_tools({"echo"});
  const auto reply = send("tools/list", "");
  EXPECT_NE(text_of(*reply).find("one__echo"), std::string::npos) << text_of(*reply);
}

TEST_F(GatewayTest, WhatIsRememberedOfAServerIsListedWithoutAskingIt) {
  const auto one = fleet.add("one");
  one->offer_tools({"echo"});
  one->remembered = true;
  int asked = 0;
  one->on_asked = [&] { ++asked; };
  EXPECT_NE(text_of(*send("tools/list", "")).find("one__echo"), std::string::npos);
  EXPECT_EQ(asked, 0);
}

TEST_F(GatewayTest, ServersForCodeOnlyAreInNoList) {
  fleet.add("one", upstream::Expose::code)->offer_tools({"echo"});
  EXPECT_EQ(text_of(*send("tools/list", "")).find("one__echo"), std::string::npos);
}

TEST_F(GatewayTest, ResourcesRouteByListThenByWhoGaveTheLink) {
  const auto one = fleet.add("one");
  const auto two = fleet.add("two");
  one->offer_resources({"x://a"});
  two->offer_resources({"x://b"});
  two->offer_tools({"link"});
  const auto contents = [](Outgoing out, peer::RequestScope&) -> io::Task<peer::PeerAnswer> {
    if (out.method == "tools/call")
      co_return ok(R"({"content":[{"type":"resource_link","uri":"z://unlisted","name":"z"}]})");
    co_return ok(R"({"contents":[]})");
  };
  one->handler = two->handler = contents;
  EXPECT_NE(text_of(*send("resources/read", R"("uri":"x://b")")).find("contents"), std::string::npos);
  EXPECT_EQ(two->sent.size(), 1U);
  EXPECT_NE(text_of(*send("resources/read", R"("uri":"z://unlisted")")).find("error"), std::string::npos);
  (void)send("tools/call", R"("name":"two__link")");
  EXPECT_NE(text_of(*send("resources/read", R"("uri":"z://unlisted")")).find("contents"), std::string::npos);
  EXPECT_EQ(two->sent.back().params, R"({"uri":"z://unlisted"})");
  EXPECT_TRUE(one->sent.empty());
}

TEST_F(GatewayTest, CompletionGoesToTheOwnerOfThePrompt) {
  const auto one = fleet.add("one");
  one->offer_prompt("greet");
  one->handler = [](Outgoing, peer::RequestScope&) -> io::Task<peer::PeerAnswer> {
    co_return ok(R"({"completion":{"values":["ada"],"hasMore":true}})");
  };
  const auto reply =
      send("completion/complete",
           R"("ref":{"type":"ref/prompt","name":"one__greet"},"argument":{"name":"who","value":"a"})");
  EXPECT_NE(text_of(*reply).find("\"ada\""), std::string::npos) << text_of(*reply);
  EXPECT_EQ(one->sent.at(0).params,
            R"({"ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"who","value":"a"}})");
}

TEST_F(GatewayTest, TheAuditLineNamesServerAndTool) {
  fleet.add("one")->offer_tools({"echo"});
  (void)send("tools/call", R"("name":"one__echo")");
  const auto lines = audit::lines_of(folder.log());
  EXPECT_NE(lines.back().find(R"("upstream":"one/echo")"), std::string::npos) << lines.back();
}

TEST_F(GatewayTest, StatusSaysWhyAndSinceWhen) {
  const auto one = fleet.add("one");
  one->state.phase = upstream::ServerPhase::failed;
  one->state.reason = "exited with code 3";
  const std::string status = json::write(gateway->status());
  EXPECT_NE(status.find("exited with code 3"), std::string::npos) << status;
  EXPECT_NE(status.find("\"since\""), std::string::npos);
}

TEST_F(GatewayTest, AMovedResourceIsReadUnderTheUriThatTheClientUsed) {
  fleet.add("one")->offer_resources({"x://a"});
  const auto two = fleet.add("two");
  two->offer_resources({"x://a"});
  two->handler = [](Outgoing, RequestScope&) -> io::Task<PeerAnswer> {
    co_return ok(R"({"contents":[{"uri":"x://a","text":"of two"}]})");
  };
  const auto reply = send("resources/read", R"("uri":"two+x://a")");
  ASSERT_EQ(two->sent.size(), 1U);
  EXPECT_EQ(two->sent[0].params, R"({"uri":"x://a"})");
  EXPECT_NE(text_of(*reply).find(R"("uri":"two+x://a")"), std::string::npos) << text_of(*reply);
}

TEST_F(GatewayTest, AQuestionThatCannotBeAnsweredFailsOnlyACallThatTheServerFails) {
  const auto one = fleet.add("one");
  one->offer_tools({"echo"});
  std::string result = R"({"content":[{"type":"text","text":"echoed"}]})";
  one->handler = [&](Outgoing, RequestScope& scope) -> io::Task<PeerAnswer> {
    scope.cannot_answer({.key = {}, .method = "sampling/createMessage", .params = {}});
    co_return ok(result);
  };
  EXPECT_NE(text_of(*send("tools/call", R"("name":"one__echo")")).find("echoed"), std::string::npos);
  result = R"({"content":[],"isError":true})";
  EXPECT_NE(text_of(*send("tools/call", R"("name":"one__echo")")).find("-32021"), std::string::npos);
}

}  // namespace
}  // namespace relay::gateway
