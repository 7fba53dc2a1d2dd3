#include "codemode/run_servers.h"

#include <fstream>

#include <gmock/gmock.h>
#include <boost/asio/post.hpp>

#include "codemode/code_mode.h"
#include "codemode/inner_context.h"
#include "codemode/tool_answers.h"
#include "gateway/fleet_fixture.h"

namespace relay::codemode {
namespace {

using peer::Outgoing;
using peer::PeerAnswer;
using peer::RequestScope;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

protocol::Tool make_tool(std::string name, std::string description,
                         std::string input = R"({"type":"object"})") {
  protocol::Tool tool;
  tool.name = std::move(name);
  tool.description = std::move(description);
  tool.input_schema = protocol::JsonText::trusted(std::move(input));
  return tool;
}

// Runs over the real pipeline, with upstreams that do what a test says.
struct RunServersTest : gateway::FleetTest {
  io::ThreadPool pool{1};
  std::filesystem::path state = std::filesystem::path(folder.log()).parent_path() / "mcp";
  std::optional<CodeMode> code_mode;
  std::shared_ptr<BareContext> context =
      std::make_shared<BareContext>(authority::Caller{.principal = "alice"});

  RunServersTest() { restart({}); }
  ~RunServersTest() override {
    end();
    close();
  }
  // On the loop, as everything that cancels.
  void end() {
    io::asio::post(loop, [this] { code_mode.reset(); });
    loop.restart();
    loop.poll();
  }
  void restart(CodeModeOptions options) {
    end();
    options.state = options.declarations = state;
    code_mode.emplace(loop.get_executor(), fleet, backend, pool, random, std::move(options));
  }

  std::shared_ptr<RunServers> open(std::optional<std::vector<std::string>> named = {}) {
    return code_mode->open_run(*context, "req_run", named).value();
  }
  // The answer, or "type: message".
  std::string ask(const std::shared_ptr<RunServers>& servers, std::string op, std::string args) {
    auto answer = wait(servers->perform(std::move(op), *json::parse_object(args), args));
    return answer ? *answer : describe(answer.error());
  }
  std::shared_ptr<gateway::FakeUpstream> add(std::string name) {
    return fleet.add(std::move(name), upstream::Expose::code);
  }
};

TEST_F(RunServersTest, ArgumentsGoToTheServerAndItsResultToTheGuestByteForByte) {
  const auto one = add("one");
  one->offer_tools({"echo"});
  EXPECT_EQ(
      ask(open(), "mcp.call",
          R"({"server":"one","tool":"echo","arguments":{"x":1.0,"big":123456789012345678901234567890}})"),
      R"({"content":[{"type":"text","text":"hi"}],"extra":1.50})");
  EXPECT_EQ(one->sent.at(0).params,
            R"({"name":"echo","arguments":{"x":1.0,"big":123456789012345678901234567890}})");
}

TEST_F(RunServersTest, TheAuditLineNamesTheRunTheServerAndTheTool) {
  add("one")->offer_tools({"echo"});
  ask(open(), "mcp.call", R"({"server":"one","tool":"echo"})");
  const auto lines = audit::lines_of(folder.log());
  EXPECT_THAT(lines.back(), HasSubstr(R"("upstream":"one/echo")"));
  EXPECT_THAT(lines.back(), HasSubstr("req_run"));
}

TEST_F(RunServersTest, AnyUsualSpellingFindsTheTool) {
  const auto one = add("My-Server");
  one->offer_tools({"list-issues"});
  for (const char* tool : {"list-issues", "list_issues", "listIssues"})
    EXPECT_THAT(ask(open(), "mcp.call", std::string(R"({"server":"my_server","tool":")") + tool + "\"}"),
                HasSubstr("content"))
        << tool;
  EXPECT_THAT(one->sent.at(2).params, HasSubstr(R"("name":"list-issues")"));
}

TEST_F(RunServersTest, ErrorsSayWhatThereIs) {
  add("one")->offer_tools({"list_issues", "echo"});
  add("two")->offer_tools({"x"});
  const auto servers = open();
  EXPECT_EQ(ask(servers, "mcp.call", R"({"server":"nope","tool":"x"})"),
            "NotFound: no MCP server named 'nope' (available: one, two)");
  EXPECT_EQ(ask(servers, "mcp.call", R"({"server":"one","tool":"list_isues"})"),
            "NotFound: Tool 'list_isues' not found for server one: did you mean list_issues?");
  EXPECT_THAT(ask(servers, "mcp.call", R"({"server":"one","tool":"echo","arguments":[1]})"),
              HasSubstr("Arguments must be an object"));
  EXPECT_THAT(ask(servers, "mcp.call", R"({"tool":"echo"})"), HasSubstr("Missing 'server' value"));
  EXPECT_THAT(ask(servers, "mcp.frob", "{}"), HasSubstr("Unknown RPC type"));
  EXPECT_THAT(ask(servers, "mcp.search", "{}"), HasSubstr("Missing 'query' value"));
}

TEST_F(RunServersTest, KeysThatComeTwiceAreRefused) {
  const auto one = add("one");
  one->offer_tools({"echo"});
  // The parser of the frame takes the last one; what is passed on has both, and a server may take the first.
  auto answer = wait(open()->perform(
      "mcp.call", *json::parse_object(R"({"server":"one","tool":"echo","arguments":{"a":2}})"),
      R"({"server":"one","tool":"echo","arguments":{"a":"secret","a":2}})"));
  EXPECT_FALSE(answer);
  EXPECT_TRUE(one->sent.empty());
}

TEST_F(RunServersTest, PolicyJudgesInnerCalls) {
  const auto one = add("one");
  one->offer_tools({"echo"});
  EXPECT_THAT(ask(open(), "mcp.call", R"({"server":"one","tool":"echo","arguments":{"x":"secret"}})"),
              testing::AnyOf(HasSubstr("PolicyDenied"), HasSubstr("isError")));
  EXPECT_TRUE(one->sent.empty());
}

TEST_F(RunServersTest, TheServersOwnErrorAndADeadServerAreToldApart) {
  const auto one = add("one");
  one->offer_tools({"echo"});
  one->handler = [](Outgoing, peer::RequestScope&) -> io::Task<peer::PeerAnswer> {
    co_return peer::PeerAnswer(std::unexpect, protocol::RpcError{-32602, "x is missing", {}});
  };
  EXPECT_EQ(ask(open(), "mcp.call", R"({"server":"one","tool":"echo"})"), "ValidationError: x is missing");
  one->handler = [](Outgoing, peer::RequestScope&) -> io::Task<peer::PeerAnswer> {
    co_return fail(unavailable("one died: exited with code 3"));
  };
  EXPECT_THAT(ask(open(), "mcp.call", R"({"server":"one","tool":"echo"})"), HasSubstr("exited with code 3"));
}

TEST_F(RunServersTest, NobodyIsAskedWhereNobodyIs) {
  const auto one = add("one");
  one->offer_tools({"ask"});
  one->handler = [&](Outgoing, peer::RequestScope& exchange) -> io::Task<peer::PeerAnswer> {
    std::vector<peer::Question> questions;
    questions.push_back({"", "roots/list", protocol::JsonText::trusted("{}")});
    RELAY_CO_TRY(const auto answers, co_await exchange.ask(std::move(questions)));
    co_return peer::PeerAnswer(protocol::JsonText::trusted("{}"));
  };
  EXPECT_THAT(ask(open(), "mcp.call", R"({"server":"one","tool":"ask"})"), HasSubstr("roots/list"));
}

// A run whose user says yes to everything, and sees the logs.
class WillingContext final : public serving::Context {
 public:
  WillingContext() {
    caller_.principal = "alice";
    client_.elicitation_form = true;
  }
  [[nodiscard]] const authority::Caller& caller() const override { return caller_; }
  [[nodiscard]] protocol::Revision revision() const override { return protocol::kLatestLegacy; }
  [[nodiscard]] const protocol::ClientCapabilities& client() const override { return client_; }
  [[nodiscard]] std::optional<protocol::LogLevel> log_level() const override {
    return protocol::LogLevel::debug;
  }
  void progress(double, std::optional<double>, std::string_view) override { ++progressed; }
  void log(protocol::LogLevel, std::string_view logger, json::value) override {
    loggers.emplace_back(logger);
  }
  io::Task<std::vector<protocol::InputResponse>> ask_all(std::vector<protocol::Ask> asks) override {
    std::vector<protocol::InputResponse> answers;
    for ([[maybe_unused]] const protocol::Ask& ask : asks)
      answers.emplace_back(protocol::RawResponse{json::object{{"action", "accept"}}});
    co_return answers;
  }
  std::vector<std::string> loggers;
  int progressed = 0;

 private:
  authority::Caller caller_;
  protocol::ClientCapabilities client_;
};

TEST_F(RunServersTest, WhatAServerAsksReachesTheUserOfTheRun) {
  const auto one = add("one");
  one->offer_tools({"ask"});
  std::string got;
  one->handler = [&](Outgoing, peer::RequestScope& exchange) -> io::Task<peer::PeerAnswer> {
    exchange.progress(1, {}, "half");
    exchange.log(protocol::LogLevel::info, "disk", "hello");
    std::vector<peer::Question> questions;
    questions.push_back({"", "elicitation/create",
                         protocol::JsonText::trusted(
                             R"({"message":"Sure?","requestedSchema":{"type":"object","properties":{}}})")});
    RELAY_CO_TRY(const auto answers, co_await exchange.ask(std::move(questions)));
    got = answers.at(0).text();
    co_return peer::PeerAnswer(protocol::JsonText::trusted(R"({"content":[]})"));
  };
  WillingContext willing;
  const auto servers = code_mode->open_run(willing, "req_run", {}).value();
  EXPECT_EQ(ask(servers, "mcp.call", R"({"server":"one","tool":"ask"})"), R"({"content":[]})");
  EXPECT_EQ(got, R"({"action":"accept"})");
  EXPECT_THAT(willing.loggers, ElementsAre("one/disk"));
  EXPECT_EQ(willing.progressed, 0);
}

TEST_F(RunServersTest, WhatAUserCannotBeAskedIsNoRefusalOfTheRun) {
  const auto one = add("one");
  one->offer_tools({"ask"});
  one->handler = [&](Outgoing, peer::RequestScope& exchange) -> io::Task<peer::PeerAnswer> {
    std::vector<peer::Question> questions;
    questions.push_back(
        {"", "sampling/createMessage", protocol::JsonText::trusted(R"({"messages":[],"maxTokens":1})")});
    RELAY_CO_TRY(const auto answers, co_await exchange.ask(std::move(questions)));
    co_return peer::PeerAnswer(protocol::JsonText::trusted(R"({"content":[]})"));
  };
  WillingContext willing;
  const auto servers = code_mode->open_run(willing, "req_run", {}).value();
  EXPECT_THAT(ask(servers, "mcp.call", R"({"server":"one","tool":"ask"})"),
              HasSubstr("sampling/createMessage"));
}

TEST_F(RunServersTest, OnlyNamedServersMayBeCalled) {
  add("one")->offer_tools({"echo"});
  add("two")->offer_tools({"echo"});
  const auto servers = open(std::vector<std::string>{"two"});
  EXPECT_EQ(json::write(servers->listing()), R"([{"name":"two","alias":"two","description":"","cwd":""}])");
  EXPECT_THAT(ask(servers, "mcp.call", R"({"server":"one","tool":"echo"})"),
              HasSubstr("PolicyDenied: Server 'one' is not loaded in this run"));
  EXPECT_THAT(ask(servers, "mcp.call", R"({"server":"two","tool":"echo"})"), HasSubstr("content"));
  EXPECT_THAT(ask(servers, "mcp.servers", "{}"),
              HasSubstr(R"("name":"one","alias":"one","description":"","loaded":false)"));
  const auto unknown = code_mode->open_run(*context, "r", std::vector<std::string>{"three"});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message, "no MCP server named \"three\" (available: one, two)");
}

TEST_F(RunServersTest, ThePolicyMayWantServersToBeNamed) {
  add("one")->offer_tools({"echo"});
  restart({.state = {}, .declarations = {}, .require_servers = true});
  EXPECT_TRUE(open()->listing().empty());
  EXPECT_THAT(ask(open(), "mcp.call", R"({"server":"one","tool":"echo"})"),
              HasSubstr("pass \"servers\": [\"one\"]"));
  EXPECT_THAT(ask(open(), "mcp.search", R"({"query":"echo"})"), HasSubstr("mcp.one.echo"));
  EXPECT_THAT(ask(open(std::vector<std::string>{"one"}), "mcp.call", R"({"server":"one","tool":"echo"})"),
              HasSubstr("content"));
}

TEST_F(RunServersTest, ServersThatAreNotForCodeDoNotExist) {
  fleet.add("tools", upstream::Expose::tools)->offer_tools({"echo"});
  EXPECT_TRUE(open()->listing().empty());
  EXPECT_THAT(ask(open(), "mcp.call", R"({"server":"tools","tool":"echo"})"),
              HasSubstr("no MCP server named 'tools' (available: none)"));
}

TEST_F(RunServersTest, CallsOverlapUpToTheLimit) {
  const auto one = add("one");
  one->offer_tools({"slow"});
  io::Event gate(loop.get_executor());
  std::size_t inside = 0, most = 0, done = 0;
  one->handler = [&](Outgoing, peer::RequestScope&) -> io::Task<peer::PeerAnswer> {
    most = std::max(most, ++inside);
    RELAY_CO_CHECK(co_await gate.wait());
    --inside;
    co_return peer::PeerAnswer(protocol::JsonText::trusted(R"({"content":[]})"));
  };
  const auto servers = open();
  const std::size_t calls = limits::kInnerCallsInFlight + 10;
  auto call = [](std::shared_ptr<RunServers> owned, std::size_t& count) -> io::Task<void> {
    const std::string args = R"({"server":"one","tool":"slow"})";
    const auto answer = co_await owned->perform("mcp.call", *json::parse_object(args), args);
    count += answer ? 1 : 0;
    co_return Result<void>{};
  };
  for (std::size_t i = 0; i < calls; ++i) io::spawn(loop.get_executor(), call(servers, done), "call");
  run_until([&] { return inside == limits::kInnerCallsInFlight; });
  loop.poll();
  EXPECT_EQ(most, limits::kInnerCallsInFlight);
  gate.set();
  run_until([&] { return done == calls; });
  EXPECT_EQ(done, calls);
}

TEST_F(RunServersTest, AClosedRunCallsNothing) {
  const auto one = add("one");
  one->offer_tools({"echo"});
  const auto servers = open();
  servers->close();
  EXPECT_THAT(ask(servers, "mcp.call", R"({"server":"one","tool":"echo"})"), HasSubstr("the run is over"));
  EXPECT_TRUE(one->sent.empty());
}

TEST_F(RunServersTest, SearchRanksOverAllServersAndNamesThoseThatAreMissing) {
  add("github")->offer_exactly({make_tool("list-issues", "Lists issues of a repository. More text."),
                                make_tool("get_file", "Reads a file")});
  add("mail")->offer_exactly({make_tool("send", "Sends a message about an issue")});
  add("dead");
  const std::string found = ask(open(), "mcp.search", R"({"query":"list issues","limit":50})");
  EXPECT_THAT(
      found,
      testing::StartsWith(
          R"({"results":[{"server":"github","serverAlias":"github","tool":"list-issues","toolAlias":"list_issues","call":"mcp.github.list_issues","description":"Lists issues of a repository."})"));
  EXPECT_THAT(found, HasSubstr(R"("server":"mail")"));
  EXPECT_THAT(found, HasSubstr(R"("missing":["dead"])"));
  EXPECT_THAT(ask(open(), "mcp.search", R"({"query":"issue","server":"mail"})"), Not(HasSubstr("github")));
  EXPECT_THAT(ask(open(), "mcp.search", R"({"query":"issue","limit":1,"detail":"full"})"),
              HasSubstr("inputSchema"));
}

TEST_F(RunServersTest, DescriptionsHoldSchemasAndDeclarations) {
  add("github")->offer_exactly({make_tool(
      "list-issues", "Lists issues.",
      R"({"type":"object","properties":{"repo":{"type":"string"}},"required":["repo"],"x":1.0})")});
  const std::string tool = ask(open(), "mcp.describe", R"({"server":"github","tool":"listIssues"})");
  EXPECT_THAT(
      tool,
      HasSubstr(
          R"("inputSchema":{"type":"object","properties":{"repo":{"type":"string"}},"required":["repo"],"x":1.0})"));
  EXPECT_THAT(tool, HasSubstr("list_issues(args: {"));
  EXPECT_THAT(tool, HasSubstr("def list_issues(*, repo: str) -> Any"));
  EXPECT_THAT(
      ask(open(), "mcp.describe", R"({"server":"github"})"),
      HasSubstr(R"("tools":[{"name":"list-issues","alias":"list_issues","description":"Lists issues."}])"));
  EXPECT_EQ(ask(open(), "mcp.tools", R"({"server":"github","detail":"names"})"),
            R"({"tools":[{"name":"list-issues","alias":"list_issues"}]})");
}

TEST_F(RunServersTest, OutputTypesAreLearnedFromResults) {
  const auto one = add("one");
  one->offer_tools({"find"});
  one->handler = [](Outgoing, peer::RequestScope&) -> io::Task<peer::PeerAnswer> {
    co_return peer::PeerAnswer(
        protocol::JsonText::trusted(R"({"content":[{"type":"text","text":"[{\"id\":7}]"}]})"));
  };
  ask(open(), "mcp.call", R"({"server":"one","tool":"find"})");
  const std::string tool = ask(open(), "mcp.describe", R"({"server":"one","tool":"find"})");
  EXPECT_THAT(tool, HasSubstr(R"("learnedOutputSchema":{"type":"array")"));
  EXPECT_THAT(tool, HasSubstr("learned from 1 result"));
  code_mode->save();
  EXPECT_TRUE(std::filesystem::exists(state / "learned.json"));
}

TEST_F(RunServersTest, FailuresAndProseTeachNothing) {
  EXPECT_FALSE(find_sample(*json::parse(R"({"content":[{"type":"text","text":"hello"}]})")));
  EXPECT_FALSE(find_sample(*json::parse(R"({"content":[{"type":"text","text":"42"}]})")));
  EXPECT_FALSE(find_sample(*json::parse(R"({"content":[{"type":"image","data":""}]})")));
  EXPECT_FALSE(find_sample(*json::parse("7")));
  EXPECT_EQ(find_sample(*json::parse(R"({"content":[],"structuredContent":{"a":1}})")),
            *json::parse(R"({"a":1})"));
}

TEST_F(RunServersTest, DeclarationsAreWrittenWhenAnOfferChanges) {
  const auto one = add("one");
  one->offer_tools({"echo"});
  const auto subscriber = fleet.subscriber.lock();
  ASSERT_NE(subscriber, nullptr);
  (*subscriber)("one", protocol::ListChanged{protocol::ListKind::tools});
  run_until([&] { return std::filesystem::exists(state / "one.d.ts"); });
  std::ifstream file(state / "one.d.ts");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  EXPECT_THAT(text, HasSubstr("echo(args?: {}): Promise<unknown>;"));
}

TEST_F(RunServersTest, WhatIsRememberedOfAServerIsFoundWithoutAskingIt) {
  const auto one = add("one");
  one->offer_tools({"list_issues"});
  one->remembered = true;
  int asked = 0;
  one->on_asked = [&] { ++asked; };
  const auto servers = open();
  EXPECT_THAT(ask(servers, "mcp.search", R"({"query":"issues"})"), HasSubstr("list_issues"));
  EXPECT_THAT(ask(servers, "mcp.tools", R"({"server":"one"})"), HasSubstr("list_issues"));
  EXPECT_THAT(ask(servers, "mcp.describe", R"({"server":"one","tool":"list_issues"})"),
              HasSubstr("list_issues"));
  EXPECT_THAT(ask(servers, "mcp.call", R"({"server":"one","tool":"list_issues"})"), HasSubstr("content"));
  EXPECT_EQ(asked, 0);
  EXPECT_THAT(ask(servers, "mcp.call", R"({"server":"one","tool":"brand_new"})"), HasSubstr("not found"));
  EXPECT_EQ(asked, 1) << "a tool that is not known may be new";
}

TEST_F(RunServersTest, TokensEndWithTheirRun) {
  const auto servers = open();
  std::string token;
  {
    const auto pass = code_mode->tokens().issue(servers);
    ASSERT_TRUE(pass);
    token = pass->token();
    EXPECT_EQ(code_mode->tokens().find(token), servers);
    EXPECT_EQ(code_mode->tokens().find(token + "x"), nullptr);
  }
  EXPECT_EQ(code_mode->tokens().find(token), nullptr);
  EXPECT_EQ(code_mode->tokens().find(""), nullptr);
}

TEST_F(RunServersTest, TheNumberOfTokensIsBounded) {
  std::vector<RunTokens::Pass> passes;
  for (std::size_t i = 0; i < limits::kRunTokens; ++i)
    passes.push_back(code_mode->tokens().issue(open()).value());
  EXPECT_FALSE(code_mode->tokens().issue(open()));
  passes.pop_back();
  EXPECT_TRUE(code_mode->tokens().issue(open()));
}

// One request over HTTP, without a socket.
class SpokenExchange final : public net::HttpExchange {
 public:
  SpokenExchange(const io::Loop& executor, std::string method, std::string path, net::Headers headers,
                 std::string body)
      : gone_(executor), body_(std::move(body)) {
    request_.method = std::move(method);
    request_.target = request_.path = std::move(path);
    request_.headers = std::move(headers);
    request_.headers.add("Host", "localhost");
  }
  [[nodiscard]] const net::HttpRequest& request() const override { return request_; }
  io::Task<std::string> read_body(std::size_t max_bytes) override {
    if (body_.size() > max_bytes) co_return fail(too_large("too large"));
    co_return body_;
  }
  io::Task<void> respond(net::HttpResponse response) override {
    answer = std::move(response);
    co_return Result<void>{};
  }
  io::Task<std::unique_ptr<net::BodyStream>> start_stream(int, net::Headers) override {
    co_return fail(internal("no streams here"));
  }
  io::Event& peer_gone() override { return gone_; }
  net::HttpResponse answer;

 private:
  net::HttpRequest request_;
  io::Event gone_;
  std::string body_;
};

TEST_F(RunServersTest, OverHttpATokenIsTheRun) {
  add("one")->offer_tools({"echo"});
  net::Router router(net::OriginGuard({}), nullptr);
  code_mode->endpoint().add_to(router);
  std::optional<RunTokens::Pass> pass(
      code_mode->tokens().issue(open(std::vector<std::string>{"one"})).value());
  const std::string token = pass->token();
  const auto say = [&](std::string method, std::string path, net::Headers headers, std::string body) {
    SpokenExchange exchange(loop.get_executor(), std::move(method), std::move(path), std::move(headers),
                            std::move(body));
    const auto done = wait(router.handle(exchange));
    if (!done) return std::string(done.error().face().type);
    return std::to_string(exchange.answer.status) + " " + exchange.answer.body;
  };
  const std::string call = R"({"mcp":"one","tool":"echo","params":{}})";
  EXPECT_EQ(say("POST", "/mcps-rpc", {{"X-Relay-Run-Token", token}}, call),
            R"(200 {"result":{"content":[{"type":"text","text":"hi"}],"extra":1.50}})");
  EXPECT_EQ(
      say("GET", "/mcps/one/tools", {{"X-Relay-Run-Token", token}}, ""),
      R"(200 {"result":{"tools":[{"name":"echo","alias":"echo","description":"","inputSchema":{"type":"object"}}]}})");
  EXPECT_THAT(say("POST", "/mcps-rpc", {{"X-Relay-Run-Token", token}}, R"({"mcp":"two","tool":"x"})"),
              testing::StartsWith("404 "));
  EXPECT_THAT(say("POST", "/mcps-rpc", {{"X-Relay-Run-Token", token}}, "nonsense"),
              testing::AnyOf(testing::StartsWith("400 "), HasSubstr("ValidationError")));
  EXPECT_THAT(say("POST", "/mcps-rpc", {}, call), testing::StartsWith("401 "));
  EXPECT_THAT(say("POST", "/mcps-rpc", {{"X-Relay-Run-Token", token}, {"Origin", "https://evil.test"}}, call),
              testing::StartsWith("403 "));
  pass.reset();
  EXPECT_THAT(say("POST", "/mcps-rpc", {{"X-Relay-Run-Token", token}}, call), testing::StartsWith("401 "));
}

TEST(RpcCall, HasSeveralForms) {
  const auto args = [](std::string_view body) { return parse_rpc_call(body).value().args; };
  EXPECT_EQ(args(R"({"mcp":"search","tool":"grep","params":{"p":1.0}})"),
            R"({"server":"search","tool":"grep","arguments":{"p":1.0}})");
  EXPECT_EQ(args(R"({"server":"s","tool":"t","arguments":{}})"),
            R"({"server":"s","tool":"t","arguments":{}})");
  EXPECT_EQ(
      args(
          R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"server":"s","name":"t","arguments":{"a":1}}})"),
      R"({"server":"s","tool":"t","arguments":{"a":1}})");
  EXPECT_EQ(parse_rpc_call(R"({"op":"mcp.search","args":{"query":"x"}})").value().op, "mcp.search");
  for (const char* bad : {"", "[]", "{", R"({"op":"fs.read"})", R"({"jsonrpc":"2.0","method":"x"})",
                          R"({"jsonrpc":"2.0","method":"tools/call"})"})
    EXPECT_FALSE(parse_rpc_call(bad)) << bad;
}

}  // namespace
}  // namespace relay::codemode
