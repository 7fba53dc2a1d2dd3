// What callers see of one upstream: admission, sessions, watches, lists.
#include "upstream/supervised_upstream.h"

#include <gmock/gmock.h>

#include "upstream/open_door_fixture.h"
#include "upstream/upstream_fixture.h"

namespace relay::upstream {
namespace {

using namespace std::chrono_literals;
using protocol::JsonText;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class NamedSession final : public peer::RequestScope {
 public:
  explicit NamedSession(std::string name) : name_(std::move(name)) {}
  [[nodiscard]] std::string_view session() const override { return name_; }
  [[nodiscard]] const protocol::ClientCapabilities& client() const override { return none_; }
  [[nodiscard]] std::optional<protocol::LogLevel> log_level() const override { return {}; }
  void progress(double, std::optional<double>, std::string_view) override {}
  void log(protocol::LogLevel, std::string_view, json::value) override {}
  io::Task<std::vector<JsonText>> ask(std::vector<peer::Question>) override {
    co_return fail(unavailable("nobody"));
  }
  void became_task() override {}

 private:
  std::string name_;
  protocol::ClientCapabilities none_;
};

class SupervisedUpstreamTest : public UpstreamFixture {
 protected:
  io::Event gate{loop.executor()};
  void answer_when_opened() {
    server.on_request = [this](FakePeer&, const peer::Outgoing&) -> io::Task<peer::PeerAnswer> {
      RELAY_CO_CHECK(co_await gate.wait());
      co_return peer::PeerAnswer(JsonText());
    };
  }
  void open_gate() {
    gate.set();
    loop.settle();
  }
  /// Lists by method and cursor; everything else is an empty object.
  std::map<std::string, std::string> pages;
  void answer_with_pages() {
    server.on_request = [this](FakePeer&, const peer::Outgoing& outgoing) -> io::Task<peer::PeerAnswer> {
      const auto found = pages.find(outgoing.method + " " + outgoing.params);
      if (found == pages.end())
        co_return peer::PeerAnswer(std::unexpect, protocol::RpcError{-32601, "no such method", {}});
      co_return peer::PeerAnswer(JsonText::trusted(found->second));
    };
  }
  std::shared_ptr<const Offer> offer() {
    auto got = loop.run(upstream().offer());
    EXPECT_TRUE(got) << got.error().message;
    return got ? *got : std::make_shared<const Offer>();
  }
  static std::vector<std::string> tool_names(const Offer& offer) {
    std::vector<std::string> names;
    for (const protocol::Tool& tool : *offer.tools.items) names.push_back(tool.name);
    return names;
  }
};

// ---- CallSlots.

TEST_F(SupervisedUpstreamTest, CallsBeyondTheLimitWaitInTheirOrder) {
  spec.max_concurrent = 2;
  answer_when_opened();
  std::vector<std::shared_ptr<std::optional<Result<peer::PeerAnswer>>>> slots;
  for (const char* name : {"a", "b", "c", "d"}) slots.push_back(begin(name));
  until([&] { return server.requests.size() == 2; });
  loop.settle();
  EXPECT_EQ(server.requests.size(), 2U);
  EXPECT_EQ(upstream().status().open_calls, 2U);
  gate.set();
  until([&] { return std::ranges::all_of(slots, [](const auto& slot) { return slot->has_value(); }); });
  EXPECT_THAT(server.requests,
              ElementsAre(HasSubstr("\"a\""), HasSubstr("\"b\""), HasSubstr("\"c\""), HasSubstr("\"d\"")));
  EXPECT_EQ(upstream().status().open_calls, 0U);
}

TEST_F(SupervisedUpstreamTest, AFullLineIsRefused) {
  spec.max_concurrent = 1;
  answer_when_opened();
  std::vector<std::shared_ptr<std::optional<Result<peer::PeerAnswer>>>> slots;
  for (std::size_t i = 0; i < 1 + limits::kUpstreamWaiting; ++i) slots.push_back(begin());
  const auto refused = request();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::busy);
  EXPECT_THAT(refused.error().message, AllOf(HasSubstr("files"), HasSubstr("256 waiting")));
  gate.set();
  until([&] { return std::ranges::all_of(slots, [](const auto& slot) { return slot->has_value(); }); });
}

TEST_F(SupervisedUpstreamTest, OneWhoWaitsAndGivesUpTakesNoPlace) {
  spec.max_concurrent = 1;
  answer_when_opened();
  const auto first = begin("a");
  io::CancelSource cancel;
  const auto second = begin("b", nullptr, cancel);
  const auto third = begin("c");
  until([&] { return server.requests.size() == 1; });
  cancel.cancel();
  loop.settle();
  gate.set();
  until([&] { return third->has_value(); });
  EXPECT_THAT(server.requests, ElementsAre(HasSubstr("\"a\""), HasSubstr("\"c\"")));
  EXPECT_EQ(upstream().status().open_calls, 0U);
}

TEST_F(SupervisedUpstreamTest, APlaceIsNotWaitedForForever) {
  spec.max_concurrent = 1;
  answer_when_opened();
  const auto first = begin("a");
  until([&] { return server.requests.size() == 1; });
  peer::Outgoing outgoing = call("b");
  outgoing.timeout = 1ms;
  const auto late = loop.run(send_behind_door(upstream(), std::move(outgoing), nobody));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().kind, ErrorKind::timeout);
  open_gate();
}

TEST_F(SupervisedUpstreamTest, TheRateLimitSaysWhenToComeBack) {
  spec.calls_per_minute = 2;
  EXPECT_TRUE(request());
  EXPECT_TRUE(request());
  const auto third = request();
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().kind, ErrorKind::busy);
  EXPECT_THAT(third.error().message, HasSubstr("try again in 30 s"));
  clock.advance(30s);
  EXPECT_TRUE(request());
  EXPECT_FALSE(request());
}

TEST_F(SupervisedUpstreamTest, ACallHasTheShorterOfTheTwoTimeOuts) {
  spec.call_timeout = 1234ms;
  std::chrono::milliseconds seen{0};
  server.on_request = [&](FakePeer&, const peer::Outgoing& outgoing) -> io::Task<peer::PeerAnswer> {
    seen = outgoing.timeout;
    co_return peer::PeerAnswer(JsonText());
  };
  EXPECT_TRUE(request());
  EXPECT_EQ(seen, 1234ms);
}

TEST_F(SupervisedUpstreamTest, ADisabledServerIsNotStarted) {
  spec.enabled = false;
  const auto answer = request();
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("disabled"));
  EXPECT_EQ(server.starts, 0);
  EXPECT_EQ(upstream().status().phase, ServerPhase::disabled);
}

TEST_F(SupervisedUpstreamTest, ARetiredServerSaysWhy) {
  EXPECT_TRUE(request());
  EXPECT_TRUE(loop.run(upstream().retire("was removed from the configuration")));
  const auto answer = request();
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("was removed from the configuration"));
  EXPECT_EQ(server.starts, 1);
}

// ---- Sessions.

TEST_F(SupervisedUpstreamTest, EachSessionHasItsOwnConnectionWhenAskedFor) {
  spec.sharing = Sharing::session;
  NamedSession alice("alice"), bob("bob");
  EXPECT_TRUE(loop.run(send_behind_door(upstream(), call(), alice)));
  EXPECT_TRUE(loop.run(send_behind_door(upstream(), call(), bob)));
  EXPECT_TRUE(loop.run(send_behind_door(upstream(), call(), alice)));
  EXPECT_EQ(server.starts, 2);
}

TEST_F(SupervisedUpstreamTest, SessionsShareOneConnectionOtherwise) {
  NamedSession alice("alice"), bob("bob");
  EXPECT_TRUE(loop.run(send_behind_door(upstream(), call(), alice)));
  EXPECT_TRUE(loop.run(send_behind_door(upstream(), call(), bob)));
  EXPECT_EQ(server.starts, 1);
}

TEST_F(SupervisedUpstreamTest, TheLongestUnusedSessionMakesRoom) {
  spec.sharing = Sharing::session;
  for (std::size_t i = 0; i < limits::kUpstreamSessions + 3; ++i) {
    NamedSession session("s" + std::to_string(i));
    EXPECT_TRUE(loop.run(send_behind_door(upstream(), call(), session)));
    clock.advance(1s);
  }
  until([&] { return server.closes == 3; });
  NamedSession oldest_kept("s3");
  EXPECT_TRUE(loop.run(send_behind_door(upstream(), call(), oldest_kept)));
  EXPECT_EQ(server.starts, static_cast<int>(limits::kUpstreamSessions) + 3);
}

TEST_F(SupervisedUpstreamTest, SessionsThatAreAllInUseLeaveNoRoom) {
  spec.sharing = Sharing::session;
  spec.max_concurrent = 1000;
  answer_when_opened();
  std::vector<std::unique_ptr<NamedSession>> sessions;
  std::vector<std::shared_ptr<std::optional<Result<peer::PeerAnswer>>>> slots;
  for (std::size_t i = 0; i < limits::kUpstreamSessions; ++i) {
    sessions.push_back(std::make_unique<NamedSession>("s" + std::to_string(i)));
    slots.push_back(begin("x", sessions.back().get()));
  }
  until([&] { return server.requests.size() == limits::kUpstreamSessions; });
  NamedSession late("late");
  const auto refused = loop.run(send_behind_door(upstream(), call(), late));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::busy);
  gate.set();
  until([&] { return std::ranges::all_of(slots, [](const auto& slot) { return slot->has_value(); }); });
}

// ---- Watches and levels.

TEST_F(SupervisedUpstreamTest, WatchesAreCountedAndSurviveARestart) {
  EXPECT_TRUE(loop.run(watch_behind_door(upstream(), "a")));
  EXPECT_TRUE(loop.run(watch_behind_door(upstream(), "a")));
  EXPECT_TRUE(loop.run(watch_behind_door(upstream(), "b")));
  using Set = std::set<std::string, std::less<>>;
  EXPECT_THAT(server.watches, ElementsAre(Set{"a"}, Set{"a", "b"}));
  upstream().unwatch("a");
  loop.settle();
  EXPECT_EQ(server.watches.size(), 2U) << "somebody else still watches it";
  upstream().unwatch("a");
  until([&] { return server.watches.size() == 3; });
  EXPECT_EQ(server.watches.back(), Set{"b"});
  server.peer->die();
  until([&] { return server.watches.size() == 4; });
  EXPECT_EQ(server.watches.back(), Set{"b"});
  server.peer->observer().server_event(protocol::ResourceUpdated{"b"});
  EXPECT_THAT(observer.updates, ElementsAre("b"));
}

TEST_F(SupervisedUpstreamTest, TheLogLevelSurvivesARestart) {
  server.info.capabilities["logging"] = json::object();
  upstream().set_log_level(protocol::LogLevel::debug);
  EXPECT_TRUE(request());
  server.peer->die();
  until([&] { return upstream().status().phase == ServerPhase::ready; });
  EXPECT_THAT(server.levels, ElementsAre(protocol::LogLevel::debug, protocol::LogLevel::debug));
  upstream().set_log_level(protocol::LogLevel::error);
  until([&] { return server.levels.size() == 3; });
}

// ---- Lists.

TEST_F(SupervisedUpstreamTest, AllPagesOfWhatIsDeclaredAreWalkedAndKeptAsTheyCame) {
  server.info.capabilities = {{"tools", json::object{{"listChanged", true}}},
                              {"prompts", json::object{{"listChanged", true}}}};
  server.info.instructions = "be nice";
  const std::string odd =
      R"({"description":"d","name":"a","x":1.0,  "inputSchema":{"type":"object","$x":1e2},"outputSchema":{"type":"string"},)"
      R"("annotations":{"readOnlyHint":true},"execution":{"taskSupport":"required"}})";
  pages["tools/list {}"] = R"({"tools":[)" + odd + R"(],"nextCursor":""})";
  pages[R"(tools/list {"cursor":""})"] = R"({"tools":[{"name":"b"}],"nextCursor":"p\"3"})";
  pages[R"(tools/list {"cursor":"p\"3"})"] = R"({"tools":[{"name":"c","title":"C"}]})";
  pages["prompts/list {}"] = R"({"prompts":[{"name":"p","arguments":[{"name":"x","required":true}]}]})";
  answer_with_pages();

  const auto got = offer();
  EXPECT_THAT(tool_names(*got), ElementsAre("a", "b", "c"));
  const protocol::Tool& first = *got->find_tool("a");
  EXPECT_EQ(first.raw->text(), odd);
  EXPECT_EQ(first.input_schema.text(), R"({"type":"object","$x":1e2})");
  EXPECT_EQ(first.output_schema->text(), R"({"type":"string"})");
  EXPECT_EQ(first.annotations.read_only, true);
  EXPECT_EQ(first.task_support, protocol::TaskSupport::required);
  EXPECT_EQ(got->prompts.items->at(0).arguments.at(0).name, "x");
  EXPECT_EQ(got->instructions, "be nice");
  EXPECT_THAT(got->oddities, testing::IsEmpty());
  EXPECT_THAT(server.requests, testing::Each(testing::Not(HasSubstr("resources"))));

  const std::size_t asked = server.requests.size();
  EXPECT_EQ(offer(), got) << "kept while nothing changes";
  EXPECT_EQ(server.requests.size(), asked);
}

TEST_F(SupervisedUpstreamTest, ListsThatNeverEndStop) {
  server.info.capabilities = {{"tools", json::object()}};
  pages["tools/list {}"] = R"({"tools":[{"name":"a"}],"nextCursor":"x"})";
  pages[R"(tools/list {"cursor":"x"})"] = R"({"tools":[{"name":"b"}],"nextCursor":"x"})";
  answer_with_pages();
  const auto got = offer();
  EXPECT_THAT(tool_names(*got), ElementsAre("a", "b"));
  EXPECT_THAT(got->oddities, ElementsAre(HasSubstr("same cursor")));
}

TEST_F(SupervisedUpstreamTest, CursorsThatCountUpForeverStopToo) {
  server.info.capabilities = {{"tools", json::object()}};
  int page = 0;
  server.on_request = [&](FakePeer&, const peer::Outgoing&) -> io::Task<peer::PeerAnswer> {
    ++page;
    co_return peer::PeerAnswer(JsonText::trusted(R"({"tools":[{"name":"t)" + std::to_string(page) +
                                                 R"("}],"nextCursor":"c)" + std::to_string(page) + "\"}"));
  };
  const auto got = offer();
  EXPECT_EQ(got->tools.items->size(), limits::kUpstreamPages);
  EXPECT_THAT(got->oddities, ElementsAre(HasSubstr("more than")));
}

TEST_F(SupervisedUpstreamTest, GlobsDecideWhichToolsAreSeenAndDenyWins) {
  server.info.capabilities = {{"tools", json::object()}};
  spec.allow = {"read_*", "list"};
  spec.deny = {"*_secret"};
  pages["tools/list {}"] =
      R"({"tools":[{"name":"read_file"},{"name":"read_secret"},{"name":"write_file"},{"name":"list"}]})";
  answer_with_pages();
  EXPECT_THAT(tool_names(*offer()), ElementsAre("read_file", "list"));
}

TEST_F(SupervisedUpstreamTest, WhatCannotBeAToolIsLeftOutAndSaid) {
  server.info.capabilities = {{"tools", json::object()}};
  const std::string huge(limits::kUpstreamToolBytes, 'x');
  pages["tools/list {}"] = R"({"tools":[7,{"title":"nameless"},{"name":"huge","description":")" + huge +
                           R"("},{"name":"ok"},{"name":"ok"}]})";
  answer_with_pages();
  const auto got = offer();
  EXPECT_THAT(tool_names(*got), ElementsAre("ok"));
  EXPECT_EQ(got->oddities.size(), 4U);
}

TEST_F(SupervisedUpstreamTest, ModernHttpToolsWithImpossibleHeadersAreLeftOut) {
  server.info.capabilities = {{"tools", json::object()}};
  server.info.revision = protocol::kLatestModern;
  spec.transport = ServerTransport::http;
  const std::string tools =
      R"({"tools":[{"name":"bad","inputSchema":{"type":"object","properties":{"a":{"type":"object","x-mcp-header":"A"}}}},)"
      R"({"name":"good","inputSchema":{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"A"}}}}],"ttlMs":0,"cacheScope":"public"})";
  pages["tools/list {}"] = tools;
  answer_with_pages();
  const auto got = offer();
  EXPECT_THAT(tool_names(*got), ElementsAre("good"));
  EXPECT_THAT(got->oddities, ElementsAre(HasSubstr("bad")));
}

TEST_F(SupervisedUpstreamTest, AnAnnouncedChangeIsPassedOnAndFetchedOnceWhenAskedFor) {
  server.info.capabilities = {{"tools", json::object{{"listChanged", true}}},
                              {"prompts", json::object{{"listChanged", true}}}};
  pages["tools/list {}"] = R"({"tools":[{"name":"a"}]})";
  pages["prompts/list {}"] = R"({"prompts":[]})";
  answer_with_pages();
  EXPECT_THAT(tool_names(*offer()), ElementsAre("a"));
  observer.changes.clear();
  server.requests.clear();
  pages["tools/list {}"] = R"({"tools":[{"name":"a"},{"name":"b"}]})";
  for (int burst = 0; burst < 5; ++burst)
    server.peer->observer().server_event(protocol::ListChanged{peer::ListKind::tools});
  EXPECT_TRUE(server.requests.empty()) << "nobody asked yet";
  EXPECT_THAT(tool_names(*offer()), ElementsAre("a", "b"));
  EXPECT_THAT(server.requests, ElementsAre("tools/list {}")) << "only the list that changed";
  EXPECT_EQ(observer.changes, std::vector<peer::ListKind>(5, peer::ListKind::tools))
      << "and not said again when it was fetched";
}

TEST_F(SupervisedUpstreamTest, ManyAskForTheOfferAndOneQuestionGoesOut) {
  server.info.capabilities = {{"tools", json::object{{"listChanged", true}}}};
  pages["tools/list {}"] = R"({"tools":[{"name":"a"}]})";
  answer_with_pages();
  int done = 0;
  auto ask = [](std::shared_ptr<SupervisedUpstream> who, int& count) -> io::Task<void> {
    const auto got = co_await who->offer();
    if (got && (*got)->tools.items->size() == 1) ++count;
    co_return Result<void>{};
  };
  for (int i = 0; i < 8; ++i) io::spawn(loop.executor(), ask(shared(), done), "ask");
  until([&] { return done == 8; });
  EXPECT_THAT(server.requests, ElementsAre("tools/list {}"));
}

TEST_F(SupervisedUpstreamTest, AQuietLegacyServerIsAskedAgainAfterAWhile) {
  server.info.capabilities = {{"tools", json::object()}};
  pages["tools/list {}"] = R"({"tools":[{"name":"a"}]})";
  answer_with_pages();
  offer();
  clock.advance(limits::kUpstreamFresh - 1s);
  offer();
  EXPECT_EQ(server.requests.size(), 1U);
  clock.advance(1s);
  offer();
  EXPECT_EQ(server.requests.size(), 2U);
}

TEST_F(SupervisedUpstreamTest, AModernServersTimeToLiveIsTheShortestOfItsPages) {
  server.info.capabilities = {{"tools", json::object()}};
  server.info.revision = protocol::kLatestModern;
  pages["tools/list {}"] = R"({"tools":[],"nextCursor":"2","ttlMs":60000,"cacheScope":"public"})";
  pages[R"(tools/list {"cursor":"2"})"] = R"({"tools":[],"ttlMs":5000,"cacheScope":"private"})";
  answer_with_pages();
  const auto got = offer();
  EXPECT_EQ(got->tools.caching.ttl, 5s);
  EXPECT_EQ(got->tools.caching.scope, protocol::CacheScope::owner);
  clock.advance(4999ms);
  offer();
  EXPECT_EQ(server.requests.size(), 2U);
  clock.advance(1ms);
  offer();
  EXPECT_EQ(server.requests.size(), 4U);
}

TEST_F(SupervisedUpstreamTest, TheLastOfferOutlivesItsServer) {
  server.info.capabilities = {{"tools", json::object{{"listChanged", true}}}};
  pages["tools/list {}"] = R"({"tools":[{"name":"a"}]})";
  answer_with_pages();
  offer();
  server.on_start = [] { return fail(unavailable("gone")); };
  server.peer->die();
  until([&] { return upstream().status().phase == ServerPhase::failed; });
  EXPECT_FALSE(loop.run(upstream().offer()));
  ASSERT_TRUE(upstream().known_offer());
  EXPECT_THAT(tool_names(*upstream().known_offer()), ElementsAre("a"));
}

TEST_F(SupervisedUpstreamTest, ARestartedServerIsLookedAtAgainAndDifferencesAreTold) {
  server.info.capabilities = {{"tools", json::object{{"listChanged", true}}}};
  pages["tools/list {}"] = R"({"tools":[{"name":"a"}]})";
  answer_with_pages();
  offer();
  observer.changes.clear();
  server.peer->die();
  until([&] { return server.requests.size() == 2; });
  loop.settle();
  EXPECT_TRUE(observer.changes.empty()) << "it offers the same";
  pages["tools/list {}"] = R"({"tools":[{"name":"z"}]})";
  server.peer->die();
  until([&] { return !observer.changes.empty(); });
  EXPECT_THAT(observer.changes, ElementsAre(peer::ListKind::tools));
  EXPECT_THAT(tool_names(*upstream().known_offer()), ElementsAre("z"));
}

TEST_F(SupervisedUpstreamTest, AListThatFailsCostsOnlyItself) {
  server.info.capabilities = {{"tools", json::object{{"listChanged", true}}},
                              {"resources", json::object{{"listChanged", true}}}};
  pages["tools/list {}"] = R"({"tools":[{"name":"a"}]})";
  answer_with_pages();
  const auto got = offer();
  EXPECT_THAT(tool_names(*got), ElementsAre("a"));
  EXPECT_THAT(got->oddities, ElementsAre(HasSubstr("resources/list"), HasSubstr("resources/templates/list")));
}

}  // namespace
}  // namespace relay::upstream
