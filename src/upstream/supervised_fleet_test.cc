#include "upstream/supervised_fleet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/test_loop.h"
#include "upstream/fake_peer.h"
#include "upstream/open_door_fixture.h"

namespace relay::upstream {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct FleetEvents {
  void take(std::string_view server, const protocol::ServerEvent& event) {
    const std::string name(server);
    if (const auto* change = std::get_if<protocol::ListChanged>(&event))
      if (change->list == protocol::ListKind::tools) changed.push_back(name);
    if (const auto* update = std::get_if<protocol::ResourceUpdated>(&event))
      updates.push_back(name + " " + update->uri);
    if (const auto* line = std::get_if<protocol::LogLine>(&event)) logs.push_back(name + " " + line->logger);
  }
  std::vector<std::string> changed, updates, logs;
};

class FleetTest : public testing::Test {
 protected:
  FleetTest() {
    fleet = std::make_unique<SupervisedFleet>(
        FleetParts{.executor = loop.executor(),
                   .clock = clock,
                   .log = log,
                   .connect = server.connect(),
                   .redactor = std::make_shared<secrets::Redactor>(),
                   .heads = std::make_shared<launch::ProcessCount>(loop.executor())});
    subscription = fleet->subscribe(
        [this](std::string_view name, const protocol::ServerEvent& event) { observer.take(name, event); });
  }
  ~FleetTest() override {
    EXPECT_TRUE(loop.run(fleet->stop()));
    loop.settle();
  }
  static ServerSpec make(std::string name, std::string command = "server") {
    ServerSpec spec;
    spec.name = std::move(name);
    spec.command = std::move(command);
    spec.idle_stop = std::chrono::milliseconds(0);
    return spec;
  }
  Result<peer::PeerAnswer> call(const std::shared_ptr<Upstream>& upstream) {
    peer::Outgoing outgoing{.method = "tools/call", .params = "{}"};
    return loop.run(send_behind_door(*upstream, std::move(outgoing), nobody));
  }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& upstream : fleet->all()) names.push_back(upstream->spec().name);
    return names;
  }

  io::TestLoop loop;
  FakeClock clock;
  NullLog log;
  FakeServer server{loop.executor()};
  peer::SilentScope nobody;
  FleetEvents observer;
  std::unique_ptr<SupervisedFleet> fleet;
  std::shared_ptr<const FleetSink> subscription;
};

TEST_F(FleetTest, ServersThatDidNotChangeKeepTheirConnections) {
  fleet->apply({make("a"), make("b")});
  EXPECT_THAT(observer.changed, ElementsAre("a", "b"));
  const auto a = fleet->find("a");
  EXPECT_TRUE(call(a));
  observer.changed.clear();
  fleet->apply({make("b", "other"), make("a"), make("c")});
  EXPECT_THAT(names(), ElementsAre("b", "a", "c"));
  EXPECT_THAT(observer.changed, ElementsAre("b", "c"));
  EXPECT_EQ(fleet->find("a"), a);
  EXPECT_TRUE(call(a));
  EXPECT_EQ(server.starts, 1);
}

TEST_F(FleetTest, AServerThatIsGoneSaysSoToWhoeverHoldsIt) {
  fleet->apply({make("a")});
  const auto a = fleet->find("a");
  EXPECT_TRUE(call(a));
  observer.changed.clear();
  fleet->apply({});
  EXPECT_THAT(observer.changed, ElementsAre("a"));
  EXPECT_EQ(fleet->find("a"), nullptr);
  const auto answer = call(a);
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("was removed from the configuration"));
  EXPECT_EQ(server.closes, 1);
}

TEST_F(FleetTest, AutostartDoesNotWaitForTheFirstCall) {
  ServerSpec eager = make("eager");
  eager.autostart = true;
  ServerSpec off = make("off");
  off.autostart = true;
  off.enabled = false;
  fleet->apply({eager, make("lazy"), off});
  loop.settle();
  EXPECT_EQ(server.starts, 1);
  EXPECT_EQ(fleet->find("eager")->status().phase, ServerPhase::ready);
  EXPECT_EQ(fleet->find("lazy")->status().phase, ServerPhase::idle);
  EXPECT_EQ(fleet->find("off")->status().phase, ServerPhase::disabled);
}

TEST_F(FleetTest, ANameIsTakenOnce) {
  fleet->apply({make("a", "first"), make("a", "second")});
  EXPECT_THAT(names(), ElementsAre("a"));
  EXPECT_EQ(fleet->find("a")->spec().command, "first");
}

TEST_F(FleetTest, ObserversHearWhichServerSaidIt) {
  fleet->apply({make("a")});
  EXPECT_TRUE(call(fleet->find("a")));
  server.peer->observer().server_event(protocol::ResourceUpdated{"file:///x"});
  server.peer->observer().server_event(protocol::LogLine{protocol::LogLevel::info, "db", "hi"});
  EXPECT_THAT(observer.updates, ElementsAre("a file:///x"));
  EXPECT_THAT(observer.logs, ElementsAre("a db"));
  subscription.reset();
  server.peer->observer().server_event(protocol::ResourceUpdated{"file:///y"});
  EXPECT_EQ(observer.updates.size(), 1U);
}

TEST_F(FleetTest, AfterTheStopNothingStartsAgain) {
  fleet->apply({make("a")});
  const auto a = fleet->find("a");
  EXPECT_TRUE(call(a));
  EXPECT_TRUE(loop.run(fleet->stop()));
  EXPECT_EQ(server.closes, 1);
  EXPECT_FALSE(call(a));
  fleet->apply({make("b")});
  EXPECT_EQ(fleet->find("b"), nullptr);
  EXPECT_EQ(server.starts, 1);
}

TEST_F(FleetTest, AnUpstreamThatIsHeldOutlivesItsFleet) {
  fleet->apply({make("a")});
  const auto a = fleet->find("a");
  EXPECT_TRUE(call(a));
  auto gone = std::move(fleet);
  fleet = std::make_unique<SupervisedFleet>(
      FleetParts{.executor = loop.executor(),
                 .clock = clock,
                 .log = log,
                 .connect = server.connect(),
                 .redactor = std::make_shared<secrets::Redactor>(),
                 .heads = std::make_shared<launch::ProcessCount>(loop.executor())});
  EXPECT_TRUE(loop.run(gone->stop()));
  gone.reset();
  EXPECT_FALSE(call(a));
  EXPECT_EQ(a->spec().name, "a");
}

}  // namespace
}  // namespace relay::upstream
