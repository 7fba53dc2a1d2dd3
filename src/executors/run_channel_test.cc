#include "executors/run_channel.h"

#include <gtest/gtest.h>

#include "executors/fake_child.h"

namespace relay::executors {
namespace {

using namespace std::chrono_literals;
using sandbox::FrameKind;
using sandbox::make_frame;

class Recorder final : public RunObserver {
 public:
  void on_stdout(std::string_view bytes) override { out += bytes; }
  void on_stderr(std::string_view bytes) override { err += bytes; }
  std::string out, err;
};

// Answers "echo" with its arguments and body, never answers "hang", throws at "throw".
class Echo final : public HostCalls {
 public:
  explicit Echo(io::Loop executor) : never(std::move(executor)) {}
  Task<HostReply> call(HostCall call, HostStream& stream) override {
    ++calls;
    if (call.op == "throw") throw std::runtime_error("a defect");
    if (call.op == "hang") {
      const std::shared_ptr<void> note(nullptr, [this](void*) { ++unwound; });
      RELAY_CO_CHECK(co_await never.wait());
    }
    if (call.op == "stream") RELAY_CO_CHECK(co_await stream.send_event("chunk", {}, "piece"));
    if (call.op == "reply first") {
      stream.send_reply({{"streaming", true}});
      RELAY_CO_CHECK(co_await stream.send_event("chunk", {}, "piece"));
      co_return fail(unavailable("the source broke"));
    }
    if (call.op == "missing") co_return HostReply{{}, {}, HostFailure{"NotFound", "no such file", "ENOENT"}};
    if (call.op != "echo") co_return fail(denied("not allowed: " + call.op));
    co_return HostReply{call.args, call.body, {}};
  }
  io::Event never;
  int calls = 0;
  int unwound = 0;
};

class RunChannelTest : public testing::Test {
 protected:
  RunChannelTest() : echo(std::make_shared<Echo>(loop.get_executor())), fake(loop.get_executor()) {
    request.limits.timeout = 10s;
    request.limits.stdout_bytes = 100;
  }

  RunOutcome run(RunStop stop = {}) {
    RunChannel channel(loop.get_executor(), fake.child, echo, recorder);
    auto result = run_to_end(
        loop, channel.run(owned, std::move(stop), [this](RunPace pace) { paces.push_back(pace); }));
    if (!result || !*result) return RunOutcome{.exit_code = -1};
    fate = (*result)->fate;
    return (*result)->outcome;
  }
  // Everything that was sent to the child, as frames.
  std::vector<std::string> sent() {
    sandbox::FrameReader reader(sandbox::FrameSource::relay, 1 << 20);
    const ssize_t got = ::recv(fake.other.get(), reader.prepare(1 << 16), 1 << 16, MSG_DONTWAIT);
    if (got > 0) reader.commit(static_cast<std::size_t>(got));
    std::vector<std::string> frames;
    while (const auto frame = *reader.next())
      frames.push_back(std::string(frame->header) + "|" + std::string(frame->body));
    return frames;
  }
  void say_done() { fake.say(make_frame(FrameKind::done, R"({"exitCode":0})")); }

  boost::asio::io_context loop{1};
  std::vector<RunPace> paces;
  OwnedRun owned;
  RunRequest& request = owned.request;
  Recorder recorder;
  std::shared_ptr<Echo> echo;
  FakeChild fake;
  ChildFate fate = ChildFate::ended;
};

TEST_F(RunChannelTest, CollectsOutputValueAndUsage) {
  fake.say(
      make_frame(FrameKind::output, R"({"stream":"stdout"})", "out") +
      make_frame(FrameKind::output, R"({"stream":"stderr"})", "err") +
      make_frame(
          FrameKind::done,
          R"({"exitCode":3,"value":{"a": 1.0},"valueText":"{ a: 1 }","usage":{"cpuMs":1.5,"memPeakMb":2}})"));
  const RunOutcome outcome = run();
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.stdout_bytes, "out");
  EXPECT_EQ(outcome.stderr_bytes, "err");
  EXPECT_EQ(recorder.out + recorder.err, "outerr");
  EXPECT_EQ(outcome.value_json, R"({"a": 1.0})");
  EXPECT_EQ(outcome.usage.cpu_ms, 1.5);
  EXPECT_EQ(fate, ChildFate::waits);
}

TEST_F(RunChannelTest, TheStartFrameCarriesCapsuleLimitsAndInput) {
  request.capsule.text = R"({"m":1})";
  request.capsule.jws = "h..s";
  request.capsule.layers = {std::make_shared<const std::string>("code")};
  request.capsule.manifest.layers = {{.id = "code",
                                      .format = capsule::LayerFormat::raw,
                                      .path = "main.js",
                                      .mount = "/app/main.js",
                                      .bytes = 4}};
  request.stdin_bytes = "input";
  request.session = "s";
  owned.session = {"ann", "s"};
  say_done();
  run();
  const auto frames = sent();
  ASSERT_EQ(frames.size(), 1U);
  const auto bar = frames[0].find("|codeinput");
  ASSERT_NE(bar, std::string::npos) << frames[0];
  const auto header = json::parse_object(frames[0].substr(0, bar));
  EXPECT_EQ(json::find_string(*header, "manifest"), R"({"m":1})");
  EXPECT_EQ(json::find_string(*header, "session"), "s");
  EXPECT_EQ(json::find_int(*header, "stdinBytes"), 5);
  EXPECT_EQ(json::find_int(*json::find_object(*header, "limits"), "cpuMs"), 10'000);
}

TEST_F(RunChannelTest, OutputOverTheLimitEndsTheRunAndKeepsWhatFits) {
  fake.say(make_frame(FrameKind::output, R"({"stream":"stdout"})", std::string(60, 'a')));
  fake.say(make_frame(FrameKind::output, R"({"stream":"stdout"})", std::string(60, 'b')));
  fake.state->exit = ChildExit{.code = {}, .signal = SIGKILL};
  fake.state->exited.set();
  const RunOutcome outcome = run();
  EXPECT_EQ(outcome.stdout_bytes, std::string(60, 'a') + std::string(40, 'b'));
  EXPECT_TRUE(outcome.stdout_truncated);
  EXPECT_FALSE(outcome.stderr_truncated);
  EXPECT_EQ(outcome.error->type, "OutputLimitExceeded");
  EXPECT_EQ(fate, ChildFate::ended);
}

TEST_F(RunChannelTest, TheDeadlineKillsAndKeepsTheOutput) {
  request.limits.timeout = 30ms;
  fake.say(make_frame(FrameKind::output, R"({"stream":"stdout"})", "before"));
  boost::asio::steady_timer reaper(loop, 60ms);
  reaper.async_wait([&](auto) {
    EXPECT_TRUE(fake.was_killed());
    fake.end({.code = {}, .signal = SIGKILL, .cpu_ms = 7});
  });
  const RunOutcome outcome = run();
  EXPECT_EQ(outcome.exit_code, kExitTimeout);
  EXPECT_EQ(outcome.error->type, "Timeout");
  EXPECT_EQ(outcome.stdout_bytes, "before");
  EXPECT_EQ(outcome.usage.cpu_ms, 7);
}

TEST_F(RunChannelTest, AStoppedRunStillReportsItsOutput) {
  RunStop stop;
  fake.say(make_frame(FrameKind::output, R"({"stream":"stdout"})", "before"));
  boost::asio::steady_timer later(loop, 20ms);
  later.async_wait([&](auto) {
    stop.request();
    fake.end({.code = {}, .signal = SIGKILL});
  });
  const RunOutcome outcome = run(stop);
  EXPECT_EQ(outcome.error->type, "Cancelled");
  EXPECT_EQ(outcome.stdout_bytes, "before");
}

struct End {
  ChildExit exit;
  int code;
  const char* type;
};

TEST_F(RunChannelTest, EveryWayToDieHasItsWords) {
  const End ends[] = {{{.code = 137, .signal = {}}, kExitMemory, "MemoryLimitExceeded"},
                      {{.code = {}, .signal = SIGKILL}, kExitMemory, "MemoryLimitExceeded"},
                      {{.code = {}, .signal = SIGXCPU}, kExitTimeout, "Timeout"},
                      {{.code = {}, .signal = SIGSYS}, kExitPolicy, "PolicyDenied"},
                      {{.code = {}, .signal = SIGSEGV}, 1, "Internal"},
                      {{.code = 70, .signal = {}}, 1, "Internal"},
                      {{.code = {}, .signal = {}, .cpu_ms = 0, .zygote_died = true}, 1, "Internal"}};
  for (const End& end : ends) {
    FakeChild dying(loop.get_executor());
    dying.end(end.exit);
    RunChannel channel(loop.get_executor(), dying.child, echo, recorder);
    const auto result = run_to_end(loop, channel.run(owned, {}));
    ASSERT_TRUE(result && *result);
    EXPECT_EQ((*result)->outcome.exit_code, end.code) << describe(end.exit);
    EXPECT_EQ((*result)->outcome.error->type, end.type) << describe(end.exit);
  }
}

TEST_F(RunChannelTest, WhoDiesWithItsZygoteBeforeSayingAnythingWasNeverUsed) {
  fake.end(ChildExit{.zygote_died = true});
  run();
  EXPECT_EQ(fate, ChildFate::unused);
}

TEST_F(RunChannelTest, WhoHasSaidSomethingWasUsed) {
  fake.say(make_frame(FrameKind::output, R"({"stream":"stdout"})", "out"));
  fake.end(ChildExit{.zygote_died = true});
  EXPECT_EQ(run().stdout_bytes, "out");
  EXPECT_EQ(fate, ChildFate::ended);
}

TEST_F(RunChannelTest, WhoDiesAloneWasUsed) {
  fake.end(ChildExit{.signal = SIGKILL});
  run();
  EXPECT_EQ(fate, ChildFate::ended);
}

TEST_F(RunChannelTest, CallsAreAnsweredWithTheirNumbers) {
  fake.say(make_frame(FrameKind::call, R"({"id":1,"op":"echo","args":{"x":1}})", "bytes") +
           make_frame(FrameKind::call, R"({"id":2,"op":"secret"})") +
           make_frame(FrameKind::call, R"({"id":3,"op":"missing"})") +
           make_frame(FrameKind::call, R"({"id":4,"op":"throw"})"));
  boost::asio::steady_timer later(loop, 30ms);
  later.async_wait([&](auto) { say_done(); });
  EXPECT_EQ(run().exit_code, 0);
  auto frames = sent();
  ASSERT_EQ(frames.size(), 5U);
  std::sort(frames.begin() + 1, frames.end());
  EXPECT_EQ(frames[1], R"({"id":1,"ok":true,"result":{"x":1}}|bytes)");
  EXPECT_EQ(frames[2],
            R"({"id":2,"ok":false,"error":{"type":"PolicyDenied","message":"not allowed: secret"}}|)");
  EXPECT_EQ(frames[3],
            R"({"id":3,"ok":false,"error":{"type":"NotFound","message":"no such file","errno":"ENOENT"}}|)");
  EXPECT_NE(frames[4].find(R"("id":4,"ok":false)"), std::string::npos);
}

TEST_F(RunChannelTest, CallsInFlightAreCancelledWhenTheRunEnds) {
  fake.say(make_frame(FrameKind::call, R"({"id":1,"op":"hang"})") +
           make_frame(FrameKind::call, R"({"id":2,"op":"hang"})"));
  boost::asio::steady_timer later(loop, 20ms);
  later.async_wait([&](auto) { say_done(); });
  EXPECT_EQ(run().exit_code, 0);
  loop.restart();
  loop.run_for(20ms);
  EXPECT_EQ(echo->unwound, 2);
}

TEST_F(RunChannelTest, ACancelFrameEndsItsCallOnly) {
  fake.say(make_frame(FrameKind::call, R"({"id":1,"op":"hang"})") +
           make_frame(FrameKind::call, R"({"id":2,"op":"hang"})") +
           make_frame(FrameKind::cancel, R"({"id":1})") + make_frame(FrameKind::cancel, R"({"id":99})"));
  boost::asio::steady_timer later(loop, 30ms);
  int unwound_then = -1;
  later.async_wait([&](auto) {
    unwound_then = echo->unwound;
    say_done();
  });
  run();
  EXPECT_EQ(unwound_then, 1);
}

// A guest that asks without reading answers is left alone with its full socket; relay keeps a bounded number
// of calls.
TEST_F(RunChannelTest, AFloodOfCallsIsBounded) {
  std::string flood;
  for (int id = 1; id <= 400; ++id)
    flood += make_frame(FrameKind::call, fmt::format(R"({{"id":{},"op":"hang"}})", id));
  fake.say(flood);
  request.limits.timeout = 50ms;
  boost::asio::steady_timer reaper(loop, 100ms);
  reaper.async_wait([&](auto) { fake.end({.code = {}, .signal = SIGKILL}); });
  EXPECT_EQ(run().exit_code, kExitTimeout);
  EXPECT_EQ(echo->calls, static_cast<int>(limits::kRunCalls));
}

TEST_F(RunChannelTest, StreamedPiecesComeBeforeTheReply) {
  fake.say(make_frame(FrameKind::call, R"({"id":5,"op":"stream"})"));
  boost::asio::steady_timer later(loop, 20ms);
  later.async_wait([&](auto) { say_done(); });
  run();
  const auto frames = sent();
  ASSERT_EQ(frames.size(), 3U);
  EXPECT_EQ(frames[1], R"({"id":5,"event":"chunk"}|piece)");
}

TEST_F(RunChannelTest, AReplyMayComeBeforeItsPieces) {
  fake.say(make_frame(FrameKind::call, R"({"id":5,"op":"reply first"})"));
  boost::asio::steady_timer later(loop, 20ms);
  later.async_wait([&](auto) { say_done(); });
  run();
  const auto frames = sent();
  ASSERT_EQ(frames.size(), 4U);
  EXPECT_EQ(frames[1], R"({"id":5,"ok":true,"result":{"streaming":true}}|)");
  EXPECT_EQ(frames[2], R"({"id":5,"event":"chunk"}|piece)");
  EXPECT_NE(frames[3].find(R"("event":"error")"), std::string::npos);
}

TEST_F(RunChannelTest, DoneIsReadWithSuspicion) {
  fake.say(make_frame(
      FrameKind::done,
      fmt::format(R"({{"exitCode":99999,"error":{{"type":"{}","message":"{}"}},"usage":{{"cpuMs":-5}}}})",
                  std::string(1000, 't'), std::string(100'000, 'm'))));
  const RunOutcome outcome = run();
  EXPECT_EQ(outcome.exit_code, 255);
  EXPECT_EQ(outcome.error->type.size(), 200U);
  EXPECT_EQ(outcome.error->message.size(), limits::kRunErrorBytes);
  EXPECT_EQ(outcome.usage.cpu_ms, 0);
}

TEST_F(RunChannelTest, TellsWhenTheGuestWaitsAndGoesOn) {
  fake.say(make_frame(FrameKind::pace, R"({"waits":true})"));
  fake.say(make_frame(FrameKind::pace, R"({"waits":false})"));
  say_done();
  EXPECT_EQ(run().exit_code, 0);
  EXPECT_EQ(paces, (std::vector{RunPace::waits, RunPace::computes}));
}

TEST_F(RunChannelTest, APaceWithoutItsMemberBreaksTheProtocol) {
  fake.say(make_frame(FrameKind::pace, "{}"));
  const RunOutcome outcome = run();
  ASSERT_TRUE(outcome.error);
  EXPECT_EQ(outcome.error->type, "SandboxViolation");
  EXPECT_TRUE(paces.empty());
}

}  // namespace
}  // namespace relay::executors
