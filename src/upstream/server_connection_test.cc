// The life of a connection: starts, failures, deaths, silence, idleness.
#include <gmock/gmock.h>

#include "upstream/open_door_fixture.h"
#include "upstream/upstream_fixture.h"

namespace relay::upstream {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class LaneTest : public UpstreamFixture {
 protected:
  void answer_nothing() {
    server.on_request = [](FakePeer& peer, const peer::Outgoing&) { return peer.never(); };
  }
};

TEST_F(LaneTest, NothingIsStartedUntilSomebodyNeedsIt) {
  EXPECT_EQ(upstream().status().phase, ServerPhase::idle);
  loop.settle();
  EXPECT_EQ(server.starts, 0);
  EXPECT_TRUE(request());
  EXPECT_EQ(server.starts, 1);
  EXPECT_EQ(upstream().status().phase, ServerPhase::ready);
  EXPECT_EQ(upstream().status().pid, 4711);
}

TEST_F(LaneTest, ManyWaitForOneStart) {
  std::vector<std::shared_ptr<std::optional<Result<peer::PeerAnswer>>>> slots;
  for (int i = 0; i < 10; ++i) slots.push_back(begin());
  until([&] { return std::ranges::all_of(slots, [](const auto& slot) { return slot->has_value(); }); });
  for (const auto& slot : slots) EXPECT_TRUE((*slot)->has_value());
  EXPECT_EQ(server.starts, 1);
  EXPECT_EQ(server.requests.size(), 10U);
}

TEST_F(LaneTest, ACallerThatGivesUpLeavesTheStartToTheOthers) {
  io::CancelSource cancel;
  const auto impatient = begin("a", nullptr, cancel);
  const auto patient = begin("b");
  cancel.cancel();
  until([&] { return patient->has_value(); });
  EXPECT_TRUE((*patient)->has_value());
  EXPECT_FALSE(impatient->has_value());
  EXPECT_THAT(server.requests, ElementsAre("tools/call {\"name\":\"b\"}"));
}

TEST_F(LaneTest, AStartThatFailsIsTriedThreeTimesAndThenGivenUp) {
  server.on_start = [] { return fail(unavailable("it exited with code 1 before it was ready")); };
  const auto answer = request();
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, AllOf(HasSubstr("files"), HasSubstr("exited with code 1")));
  EXPECT_EQ(server.starts, 3);
  EXPECT_EQ(upstream().status().phase, ServerPhase::failed);
  EXPECT_THAT(upstream().status().reason, HasSubstr("exited with code 1"));
  EXPECT_EQ(upstream().status().failures, 1U);

  EXPECT_FALSE(request());
  EXPECT_EQ(server.starts, 3) << "a server that was given up is left alone";
}

TEST_F(LaneTest, AServerThatWasGivenUpIsTriedAgainAfterAPause) {
  server.on_start = [] { return fail(unavailable("no")); };
  EXPECT_FALSE(request());
  server.on_start = [] { return Result<void>(); };
  clock.advance(limits::kUpstreamRevive);
  EXPECT_TRUE(request());
  EXPECT_EQ(upstream().status().phase, ServerPhase::ready);
  EXPECT_EQ(upstream().status().reason, "");
}

TEST_F(LaneTest, StopForgetsThatItFailed) {
  server.on_start = [] { return fail(unavailable("no")); };
  EXPECT_FALSE(request());
  EXPECT_TRUE(loop.run(upstream().stop()));
  EXPECT_EQ(upstream().status().phase, ServerPhase::idle);
  server.on_start = [] { return Result<void>(); };
  EXPECT_TRUE(request());
}

TEST_F(LaneTest, WhatASecondTryCannotMendIsTriedOnce) {
  server.on_start = [] { return fail(not_found("start no-such-program: run the program")); };
  const auto answer = request();
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("no-such-program"));
  EXPECT_EQ(server.starts, 1);
  EXPECT_EQ(upstream().status().phase, ServerPhase::failed);
}

TEST_F(LaneTest, AFailureOnTheWayIsForgiven) {
  server.on_start = [this]() -> Result<void> {
    if (server.starts < 3) return fail(unavailable("not yet"));
    return {};
  };
  EXPECT_TRUE(request());
  EXPECT_EQ(server.starts, 3);
}

TEST_F(LaneTest, ACallWhoseServerDiesSaysWhoHowAndWhy) {
  redactor->learn("hunter2-secret");
  server.on_request = [this](FakePeer& peer, const peer::Outgoing&) -> io::Task<peer::PeerAnswer> {
    log->stderr_bytes("Segmentation fault near hunter2-secret\n");
    peer.die();
    co_return co_await peer.never();
  };
  const auto answer = request();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::unavailable);
  EXPECT_THAT(answer.error().message, AllOf(HasSubstr("files"), HasSubstr("exited with code 3"),
                                            HasSubstr("Segmentation fault near ***")));
  EXPECT_THAT(answer.error().message, Not(HasSubstr("hunter2")));
}

TEST_F(LaneTest, ACallIsNeverSentTwiceButTheNextOneFindsANewProcess) {
  server.on_request = [](FakePeer& peer, const peer::Outgoing& outgoing) -> io::Task<peer::PeerAnswer> {
    if (outgoing.params.find("kill") == std::string::npos) co_return peer::PeerAnswer(protocol::JsonText());
    peer.die();
    co_return co_await peer.never();
  };
  EXPECT_FALSE(request("kill"));
  EXPECT_TRUE(request("echo"));
  EXPECT_EQ(server.starts, 2);
  EXPECT_THAT(server.requests,
              ElementsAre("tools/call {\"name\":\"kill\"}", "tools/call {\"name\":\"echo\"}"));
  EXPECT_EQ(server.closes, 1) << "the dead one was buried";
}

TEST_F(LaneTest, AServerThatDiesIsRestartedWithoutBeingAsked) {
  EXPECT_TRUE(request());
  server.peer->die();
  until([&] { return upstream().status().phase == ServerPhase::ready; });
  EXPECT_EQ(server.starts, 2);
  EXPECT_EQ(upstream().status().restarts, 1);
}

TEST_F(LaneTest, DeathsInARowAreFailuresInARow) {
  EXPECT_TRUE(request());
  for (int death = 1; death <= 2; ++death) {
    server.peer->die();
    until([&] { return upstream().status().phase == ServerPhase::ready; });
  }
  server.peer->die();
  until([&] { return upstream().status().phase == ServerPhase::failed; });
  EXPECT_EQ(server.starts, 3);
  until([&] { return upstream().status().reason.find("exited with code 3") != std::string::npos; });
}

TEST_F(LaneTest, ALongLifeForgivesEarlierDeaths) {
  EXPECT_TRUE(request());
  for (int death = 1; death <= 6; ++death) {
    clock.advance(limits::kUpstreamStable);
    server.peer->die();
    until([&] { return upstream().status().phase == ServerPhase::ready; });
    EXPECT_EQ(upstream().status().restarts, 1);
  }
}

TEST_F(LaneTest, AServerThatAnswersNothingIsAskedAndThenRestarted) {
  server.on_request = [](FakePeer&, const peer::Outgoing&) -> io::Task<peer::PeerAnswer> {
    co_return fail(timed_out("no answer within 60000 ms"));
  };
  for (int i = 0; i < limits::kUpstreamTimeouts; ++i) EXPECT_FALSE(request());
  until([&] { return server.starts == 2; });
  EXPECT_THAT(server.requests.back(), HasSubstr("ping"));
  until([&] { return upstream().status().phase == ServerPhase::ready; });
}

TEST_F(LaneTest, AModernServerIsAskedInItsOwnWay) {
  server.info.revision = protocol::kLatestModern;
  server.on_request = [](FakePeer&, const peer::Outgoing&) -> io::Task<peer::PeerAnswer> {
    co_return fail(timed_out("no answer"));
  };
  for (int i = 0; i < limits::kUpstreamTimeouts; ++i) EXPECT_FALSE(request());
  until([&] { return server.starts == 2; });
  EXPECT_THAT(server.requests.back(), HasSubstr("server/discover"));
}

TEST_F(LaneTest, CallsThatAreOpenWhenASilentServerIsGivenUpSaySo) {
  server.on_request = [](FakePeer& peer, const peer::Outgoing& outgoing) -> io::Task<peer::PeerAnswer> {
    if (outgoing.params.find("hangs") != std::string::npos) co_return co_await peer.never();
    co_return fail(timed_out("no answer"));
  };
  const auto open = begin("hangs");
  for (int i = 0; i < limits::kUpstreamTimeouts; ++i) EXPECT_FALSE(request());
  until([&] { return open->has_value(); });
  ASSERT_FALSE(**open);
  EXPECT_THAT((*open)->error().message, AllOf(HasSubstr("files"), HasSubstr("stopped answering")));
}

TEST_F(LaneTest, SlowToolsAreNoReasonToRestartAServerThatLives) {
  server.on_request = [](FakePeer&, const peer::Outgoing& outgoing) -> io::Task<peer::PeerAnswer> {
    if (outgoing.method == "ping") co_return peer::PeerAnswer(protocol::JsonText());
    co_return fail(timed_out("no answer"));
  };
  for (int i = 0; i < 3 * limits::kUpstreamTimeouts; ++i) EXPECT_FALSE(request());
  until([&] { return std::ranges::count(server.requests, "ping {}") == 3; });
  EXPECT_EQ(server.starts, 1);
}

TEST_F(LaneTest, AnAnswerInBetweenEndsTheRow) {
  int calls = 0;
  server.on_request = [&](FakePeer&, const peer::Outgoing&) -> io::Task<peer::PeerAnswer> {
    if (++calls % limits::kUpstreamTimeouts == 0) co_return peer::PeerAnswer(protocol::JsonText());
    co_return fail(timed_out("no answer"));
  };
  for (int i = 0; i < 4 * limits::kUpstreamTimeouts; ++i) [[maybe_unused]]
    const auto answer = request();
  loop.settle();
  EXPECT_THAT(server.requests, testing::Each(HasSubstr("tools/call")));
}

TEST_F(LaneTest, StopDuringAStartWakesThoseWhoWait) {
  server.on_start = [] { return fail(unavailable("no")); };
  pace.first_delay = 1h;
  const auto waiting = begin();
  until([&] { return upstream().status().phase == ServerPhase::backing_off; });
  EXPECT_TRUE(loop.run(upstream().stop()));
  until([&] { return waiting->has_value(); });
  ASSERT_FALSE(**waiting);
  EXPECT_THAT((*waiting)->error().message, HasSubstr("was stopped"));
  EXPECT_EQ(upstream().status().phase, ServerPhase::idle);
}

TEST_F(LaneTest, StopFailsOpenCallsAndTheNextRequestStartsAgain) {
  answer_nothing();
  const auto open = begin();
  until([&] { return server.requests.size() == 1; });
  EXPECT_TRUE(loop.run(upstream().stop()));
  until([&] { return open->has_value(); });
  ASSERT_FALSE(**open);
  EXPECT_THAT((*open)->error().message, HasSubstr("was stopped"));
  server.on_request = nullptr;
  EXPECT_TRUE(request());
  EXPECT_EQ(server.starts, 2);
}

/// Idleness is measured by the machine's own clock, so these have one.
class IdleTest : public LaneTest {
 protected:
  IdleTest() { spec.idle_stop = 1ms; }
  SystemClock real;
  std::shared_ptr<SupervisedUpstream> make() {
    ConnectionSetup setup{.spec = spec,
                          .executor = loop.executor(),
                          .clock = real,
                          .connect = server.connect(),
                          .eras = std::make_shared<EraVerdicts>(loop.executor(), nullptr, real, ""),
                          .log = std::make_shared<launch::ServerLog>(real, redactor, nullptr),
                          .pace = pace};
    return std::make_shared<SupervisedUpstream>(std::move(setup), observer.sink());
  }
};

TEST_F(IdleTest, AServerThatNobodyUsesIsStoppedAndComesBack) {
  const auto subject = make();
  EXPECT_TRUE(loop.run(send_behind_door(*subject, call(), nobody)));
  until([&] { return subject->status().phase == ServerPhase::idle; });
  until([&] { return server.closes == 1; });
  EXPECT_TRUE(loop.run(send_behind_door(*subject, call(), nobody)));
  EXPECT_EQ(server.starts, 2);
  EXPECT_TRUE(loop.run(subject->stop()));
}

TEST_F(IdleTest, AnOpenCallOrAWatchKeepsItAlive) {
  const auto subject = make();
  EXPECT_TRUE(loop.run(watch_behind_door(*subject, "file:///a")));
  EXPECT_TRUE(loop.run(io::sleep_for(30ms)));
  EXPECT_EQ(subject->status().phase, ServerPhase::ready);
  subject->unwatch("file:///a");
  until([&] { return subject->status().phase == ServerPhase::idle; });
  EXPECT_TRUE(loop.run(subject->stop()));
}

TEST_F(IdleTest, AnHttpServerIsLeftAlone) {
  spec.transport = ServerTransport::http;
  const auto subject = make();
  EXPECT_TRUE(loop.run(send_behind_door(*subject, call(), nobody)));
  EXPECT_TRUE(loop.run(io::sleep_for(30ms)));
  EXPECT_EQ(subject->status().phase, ServerPhase::ready);
  EXPECT_TRUE(loop.run(subject->stop()));
}

}  // namespace
}  // namespace relay::upstream
