#include "audit/journal.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <optional>
#include <random>
#include <thread>

#include <gtest/gtest.h>
#include <boost/asio/io_context.hpp>

#include "audit/audit_fixture.h"
#include "audit/verify.h"
#include "base/fd.h"
#include "base/limits.h"
#include "io/spawn.h"

namespace relay::audit {
namespace {

using authority::Ending;
using authority::Tier;

struct World {
  TempFolder folder;
  SystemClock clock;
  boost::asio::io_context loop;
  std::unique_ptr<Journal> journal;

  explicit World(OnFailure on_failure = OnFailure::refuse, Pause pause = sleep_for) {
    auto started = Journal::start(
        loop.get_executor(),
        {.ledger = {.path = folder.log(), .pause = std::move(pause)}, .on_failure = on_failure}, clock);
    EXPECT_TRUE(started) << started.error().message;
    journal = std::move(*started);
  }
  template <class Body>
  void run(Body body) {
    bool finished = false;
    auto wrapped = [](Body inner, bool& done) -> io::Task<void> {
      RELAY_CO_CHECK(co_await inner());
      done = true;
      co_return Result<void>{};
    };
    io::spawn(loop.get_executor(), wrapped(body, finished), "test");
    loop.restart();
    loop.run();
    EXPECT_TRUE(finished);
  }
  [[nodiscard]] std::size_t count(std::string_view needle) const {
    std::size_t found = 0;
    for (const std::string& line : lines_of(folder.log())) found += line.find(needle) != std::string::npos;
    return found;
  }
};

TEST(Journal, ClosesWhenTheLineIsInTheFile) {
  World world;
  world.run([&]() -> io::Task<void> {
    RELAY_CO_TRY(authority::Recorded recorded, co_await world.journal->open(make_grant("req_1")));
    EXPECT_EQ(world.count("req_1"), 0U);
    RELAY_CO_CHECK(
        co_await world.journal->close(std::move(recorded), authority::make_outcome(Ending::ok, "out", 0)));
    EXPECT_EQ(world.count("req_1"), 1U);
    co_return Result<void>{};
  });
  EXPECT_EQ(world.journal->stats().records, 2U);
  EXPECT_TRUE(verify_log(world.folder.log(), Scope::whole).ok);
}

// Each kind of line that speaks of a call: the opening one, the closing one, a refusal.
TEST(Journal, NoLineHoldsASecretThatIsKnownByValue) {
  const TempFolder folder;
  const SystemClock clock;
  boost::asio::io_context loop;
  const auto redactor = std::make_shared<secrets::Redactor>();
  redactor->learn("correct horse");
  auto journal = Journal::start(loop.get_executor(), {.ledger = {folder.log()}, .redactor = redactor}, clock);
  ASSERT_TRUE(journal);
  authority::Call call = make_call("req_1", Tier::stateful);
  call.tool = "run correct horse";
  call.upstream = "server/correct horse";
  call.caller.principal = "correct horse";
  call.args = json::object{{"code", "say('correct horse')"}};
  auto work = [&]() -> io::Task<void> {
    RELAY_CO_TRY(authority::Recorded recorded, co_await (*journal)->open(make_grant(call)));
    RELAY_CO_CHECK(
        co_await (*journal)->close(std::move(recorded), authority::make_outcome(Ending::ok, "", 0)));
    co_return co_await (*journal)->refuse(call, {}, authority::make_outcome(Ending::denied, ""));
  };
  io::spawn(loop.get_executor(), work(), "test");
  loop.run();
  const std::string text = slurp(folder.log());
  EXPECT_EQ(lines_of(folder.log()).size(), 4U) << "the start, and three lines of the call";
  EXPECT_EQ(text.find("correct horse"), std::string::npos) << text;
  EXPECT_NE(text.find("say('[REDACTED]')"), std::string::npos) << text;
  EXPECT_TRUE(verify_log(folder.log(), Scope::whole).ok);
}

TEST(Journal, WhatAnotherProcessHeldUpIsWrittenAtTheEnd) {
  World world(OnFailure::degrade, [](std::chrono::microseconds) {});
  {
    const Fd other(::open(world.folder.log().c_str(), O_RDWR | O_CLOEXEC));
    ASSERT_EQ(::flock(other.get(), LOCK_EX), 0);
    world.run([&]() -> io::Task<void> {
      RELAY_CO_TRY(authority::Recorded recorded, co_await world.journal->open(make_grant("req_1")));
      co_return co_await world.journal->close(std::move(recorded),
                                              authority::make_outcome(Ending::ok, "out", 0));
    });
    EXPECT_EQ(world.count("req_1"), 0U);
  }
  world.journal.reset();
  EXPECT_EQ(world.count("req_1"), 1U);
  EXPECT_TRUE(verify_log(world.folder.log(), Scope::whole).ok);
}

// The loop waits a moment for the other process. Then the thread does.
TEST(Journal, TheLoopLeavesALongerWaitForAnotherProcessToTheThread) {
  const std::thread::id loop_thread = std::this_thread::get_id();
  std::optional<Fd> other;
  std::chrono::microseconds on_the_loop{0};
  World world(OnFailure::refuse, [&](std::chrono::microseconds pause) {
    if (std::this_thread::get_id() == loop_thread) {
      on_the_loop += pause;
    } else {
      other.reset();
    }
  });
  other.emplace(::open(world.folder.log().c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(::flock(other->get(), LOCK_EX), 0);
  world.run([&]() -> io::Task<void> {
    RELAY_CO_TRY(authority::Recorded recorded, co_await world.journal->open(make_grant("req_1")));
    co_return co_await world.journal->close(std::move(recorded), authority::make_outcome(Ending::ok, "out"));
  });
  EXPECT_GT(on_the_loop.count(), 0);
  EXPECT_LT(on_the_loop, std::chrono::milliseconds(10));
  EXPECT_EQ(world.count("req_1"), 1U);
  EXPECT_EQ(world.journal->stats().records, 2U);
  EXPECT_EQ(world.journal->stats().backlog, 0U);
  EXPECT_EQ(world.journal->stats().prompt, 0U);
  EXPECT_FALSE(world.journal->stats().degraded);
}

TEST(Journal, ClosingLinesSayHowLongTheCallTook) {
  const TempFolder folder;
  FakeClock clock;
  boost::asio::io_context loop;
  auto journal = Journal::start(loop.get_executor(), {.ledger = {folder.log()}}, clock);
  ASSERT_TRUE(journal);
  const auto timed = [&](const std::string& id) {
    authority::Call call = make_call(id);
    call.began = clock.mono();
    return call;
  };
  const auto grant = [](authority::Call call) {
    std::vector<policy::Problem> problems;
    return std::get<authority::Grant>(
        policy::PolicyEngine::make({}, "policy", problems).admit(std::move(call)));
  };
  auto body = [&]() -> io::Task<void> {
    RELAY_CO_TRY(authority::Recorded closed, co_await (*journal)->open(grant(timed("req_closed"))));
    clock.advance(std::chrono::microseconds(1234));
    RELAY_CO_CHECK(co_await (*journal)->close(std::move(closed), authority::make_outcome(Ending::ok, "")));
    const authority::Call refused = timed("req_refused");
    clock.advance(std::chrono::microseconds(50));
    authority::Outcome denied = authority::make_outcome(Ending::denied, "");
    RELAY_CO_CHECK(co_await (*journal)->refuse(refused, {}, denied));
    authority::Outcome at_once = authority::make_outcome(Ending::denied, "");
    RELAY_CO_CHECK(co_await (*journal)->refuse(make_call("req_at_once"), {}, at_once));
    RELAY_CO_TRY(authority::Recorded dropped, co_await (*journal)->open(grant(timed("req_dropped"))));
    clock.advance(std::chrono::seconds(3));
    co_return Result<void>{};
  };
  io::spawn(loop.get_executor(), body(), "test");
  loop.run();
  journal->reset();
  std::map<std::string, std::int64_t, std::less<>> took;
  for (const std::string& line : lines_of(folder.log())) {
    const auto record = json::parse_object(line).value();
    if (const auto us = json::find_int(record, "duration_us"))
      took.emplace(*json::find_string(record, "request_id"), *us);
  }
  const std::map<std::string, std::int64_t, std::less<>> expected{
      {"req_closed", 1234}, {"req_refused", 50}, {"req_at_once", 0}, {"req_dropped", 3'000'000}};
  EXPECT_EQ(took, expected);
}

TEST(Journal, StartsDegradedOrNotAtAllWhereNothingCanBeWritten) {
  const SystemClock clock;
  boost::asio::io_context loop;
  const auto start = [&](OnFailure on_failure) {
    return Journal::start(loop.get_executor(),
                          {.ledger = {"/proc/relay/audit.jsonl"}, .on_failure = on_failure}, clock);
  };
  EXPECT_FALSE(start(OnFailure::refuse));
  const auto degraded = start(OnFailure::degrade);
  ASSERT_TRUE(degraded);
  const JournalStats stats = (*degraded)->stats();
  EXPECT_TRUE(stats.degraded);
  EXPECT_NE(stats.reason, "");
  EXPECT_EQ(stats.records, 0U);
  EXPECT_EQ(stats.backlog, 1U);  // that it started
}

TEST(Journal, RefusalsAreRefusedAnswersOnlyWhereCallsMustBeRecorded) {
  for (const OnFailure on_failure : {OnFailure::refuse, OnFailure::degrade}) {
    World world(on_failure);
    std::filesystem::rename(world.folder.log(), world.folder.file("audit.jsonl.1"));
    std::filesystem::create_directory(world.folder.log());
    world.run([&]() -> io::Task<void> {
      const auto told = [&](std::string toolset) -> io::Task<void> {
        const authority::Call call = make_call("req_1", Tier::reversible, std::move(toolset));
        authority::Outcome denied = authority::make_outcome(Ending::denied, "");
        co_return co_await world.journal->refuse(call, {}, denied);
      };
      const Result<void> code = co_await told("code");
      EXPECT_EQ(code.has_value(), on_failure == OnFailure::degrade);
      const Result<void> shell = co_await told("shell");
      EXPECT_FALSE(shell);
      const Result<void> note = co_await world.journal->note(make_event({}, "note", "{}"));
      EXPECT_FALSE(note);
      co_return Result<void>{};
    });
    EXPECT_EQ(world.journal->stats().backlog, 3U);
    EXPECT_EQ(world.journal->stats().records, 1U);
    EXPECT_NE(world.journal->stats().reason, "");
    std::filesystem::remove(world.folder.log());
    world.run(
        [&]() -> io::Task<void> { co_return co_await world.journal->note(make_event({}, "note", "{}")); });
    EXPECT_EQ(world.journal->stats().records, 5U);
    EXPECT_EQ(world.journal->stats().backlog, 0U);
    EXPECT_EQ(world.journal->stats().reason, "");
  }
}

TEST(Journal, WhatIsQueuedWhenItEndsIsWritten) {
  World world;
  auto note = [](Journal& sink) -> io::Task<void> {
    co_return co_await sink.note(make_event({}, "queued", "{}"));
  };
  for (int i = 0; i < 3; ++i) io::spawn(world.loop.get_executor(), note(*world.journal), "note");
  for (int i = 0; i < 3; ++i) world.loop.poll_one();
  EXPECT_GT(world.journal->stats().queued, 0U);
  world.journal.reset();
  EXPECT_EQ(world.count("\"queued\""), 3U);
}

TEST(Journal, TierTwoIsOnRecordBeforeItRuns) {
  World world;
  world.run([&]() -> io::Task<void> {
    RELAY_CO_TRY(authority::Recorded recorded,
                 co_await world.journal->open(make_grant("req_1", Tier::stateful)));
    EXPECT_EQ(world.count("\"action\":\"begin\""), 1U);
    co_return co_await world.journal->close(std::move(recorded), authority::make_outcome(Ending::ok, ""));
  });
  EXPECT_EQ(world.count("req_1"), 2U);
}

TEST(Journal, ARecordThatIsDroppedClosesAsCancelled) {
  World world;
  world.run([&]() -> io::Task<void> {
    RELAY_CO_TRY(authority::Recorded recorded, co_await world.journal->open(make_grant("req_1")));
    co_return Result<void>{};
  });
  world.journal.reset();
  EXPECT_EQ(world.count("\"outcome\":\"cancelled\""), 1U);
}

TEST(Journal, ManyCallsShareOneWrite) {
  World world;
  int closed = 0;
  for (int i = 0; i < 500; ++i) {
    auto call = [](World& w, int& done, int id) -> io::Task<void> {
      RELAY_CO_TRY(authority::Recorded recorded,
                   co_await w.journal->open(make_grant(fmt::format("req_{}", id))));
      RELAY_CO_CHECK(
          co_await w.journal->close(std::move(recorded), authority::make_outcome(Ending::ok, "x")));
      ++done;
      co_return Result<void>{};
    };
    io::spawn(world.loop.get_executor(), call(world, closed, i), "call");
  }
  world.loop.run();
  EXPECT_EQ(closed, 500);
  EXPECT_LT(world.journal->stats().batches, 100U);
  EXPECT_EQ(verify_log(world.folder.log(), Scope::whole).records, 501U);
}

// Every look at it takes as long as it is told.
struct SteppedClock final : Clock {
  std::chrono::milliseconds step{0};
  mutable MonoTime now{};
  [[nodiscard]] WallTime wall() const override { return {}; }
  [[nodiscard]] MonoTime mono() const override { return now += step; }
};

TEST(Journal, TheLoopWritesAFewLinesItselfAndLeavesASlowLogToTheThread) {
  const TempFolder folder;
  SteppedClock clock;
  boost::asio::io_context loop;
  const auto journal =
      Journal::start(loop.get_executor(), {.ledger = {folder.log()}, .on_failure = OnFailure::refuse}, clock);
  ASSERT_TRUE(journal);
  const auto write = [&](std::size_t lines) {
    auto note = [](Journal& sink) -> io::Task<void> {
      co_return co_await sink.note(make_event({}, "note", "{}"));
    };
    for (std::size_t i = 0; i < lines; ++i) io::spawn(loop.get_executor(), note(**journal), "note");
    loop.restart();
    loop.run();
    return (*journal)->stats().prompt;
  };
  EXPECT_EQ(write(1), 1U);
  EXPECT_EQ(write(1 + limits::kAuditPromptRecords), 3U);  // the first one at once, the others together
  EXPECT_EQ(write(2 + limits::kAuditPromptRecords), 4U);  // one more is a batch for the thread
  clock.step = limits::kAuditPromptWrite;
  EXPECT_EQ(write(1), 5U);  // this one turns out to be slow
  EXPECT_EQ(write(1), 5U);
  clock.step = {};
  EXPECT_EQ(write(1), 5U);  // the thread finds it prompt again
  EXPECT_EQ(write(1), 6U);
  EXPECT_TRUE(verify_log(folder.log(), Scope::whole).ok);
}

// A directory in the place of the log: nothing can be opened there until it goes.
void break_log(World& world) {
  std::filesystem::rename(world.folder.log(), world.folder.file("audit.jsonl.1"));
  std::filesystem::create_directory(world.folder.log());
}
void mend_log(World& world) {
  std::filesystem::remove(world.folder.log());
}

TEST(Journal, RefusesWhenTheSinkFailsAndRecoversByItself) {
  World world(OnFailure::refuse);
  world.run([&]() -> io::Task<void> {
    RELAY_CO_TRY(authority::Recorded recorded, co_await world.journal->open(make_grant("req_1")));
    break_log(world);
    const auto closed =
        co_await world.journal->close(std::move(recorded), authority::make_outcome(Ending::ok, ""));
    EXPECT_FALSE(closed);
    EXPECT_TRUE(world.journal->stats().degraded);
    EXPECT_EQ(world.journal->stats().backlog, 1U);
    auto refused = co_await world.journal->open(make_grant("req_2"));
    EXPECT_FALSE(refused);
    mend_log(world);
    RELAY_CO_TRY(authority::Recorded again, co_await world.journal->open(make_grant("req_3")));
    EXPECT_FALSE(world.journal->stats().degraded);
    co_return co_await world.journal->close(std::move(again), authority::make_outcome(Ending::ok, ""));
  });
  world.journal.reset();
  EXPECT_EQ(world.count("req_1"), 1U);
  EXPECT_EQ(world.count("req_3"), 2U);
  const Verification result = verify_log(world.folder.log(), Scope::whole);
  EXPECT_TRUE(result.ok) << result.reason;
}

TEST(Journal, DegradesForOrdinaryToolsetsButNeverForTheShell) {
  World world(OnFailure::degrade);
  world.run([&]() -> io::Task<void> {
    RELAY_CO_TRY(authority::Recorded recorded, co_await world.journal->open(make_grant("req_1")));
    break_log(world);
    RELAY_CO_CHECK(
        co_await world.journal->close(std::move(recorded), authority::make_outcome(Ending::ok, "")));
    EXPECT_TRUE(world.journal->stats().degraded);
    auto shell = co_await world.journal->open(make_grant("req_2", Tier::reversible, "shell"));
    EXPECT_FALSE(shell);
    mend_log(world);
    RELAY_CO_TRY(authority::Recorded shell_again,
                 co_await world.journal->open(make_grant("req_3", Tier::reversible, "shell")));
    co_return co_await world.journal->close(std::move(shell_again), authority::make_outcome(Ending::ok, ""));
  });
  world.journal.reset();
  EXPECT_EQ(world.count("req_1"), 1U);
  EXPECT_TRUE(verify_log(world.folder.log(), Scope::whole).ok);
}

// A server of its own process that acknowledges each closed call on a pipe, until it is killed.
[[noreturn]] void serve_until_killed(const std::string& log, int acknowledge, int round) {
  SystemClock clock;
  boost::asio::io_context loop;
  auto journal =
      Journal::start(loop.get_executor(), {.ledger = {log}, .on_failure = OnFailure::refuse}, clock);
  if (!journal) ::_exit(9);
  auto client = [](Journal& sink, int fd, std::string name) -> io::Task<void> {
    for (int i = 0;; ++i) {
      const std::string id = fmt::format("{}_{}", name, i);
      RELAY_CO_TRY(authority::Recorded recorded,
                   co_await sink.open(make_grant(id, i % 5 == 0 ? Tier::stateful : Tier::reversible)));
      RELAY_CO_CHECK(co_await sink.close(std::move(recorded), authority::make_outcome(Ending::ok, id)));
      const std::string line = id + "\n";
      if (::write(fd, line.data(), line.size()) < 0) ::_exit(8);
    }
  };
  for (int i = 0; i < 8; ++i)
    io::spawn(loop.get_executor(), client(**journal, acknowledge, fmt::format("req_{}_{}", round, i)),
              "client");
  loop.run();
  ::_exit(7);
}

std::string read_until_killed(int fd, pid_t child, std::size_t acknowledgements) {
  std::string got;
  char buffer[4096];
  bool killed = false;
  for (ssize_t n = 0; (n = ::read(fd, buffer, sizeof buffer)) > 0;) {
    got.append(buffer, static_cast<std::size_t>(n));
    if (killed || static_cast<std::size_t>(std::ranges::count(got, '\n')) < acknowledgements) continue;
    ::kill(child, SIGKILL);
    killed = true;
  }
  return got;
}

TEST(Durability, NoAcknowledgedCallIsMissingAfterAKillAtAnyMoment) {
  TempFolder folder;
  std::mt19937 random(5);
  std::string acknowledged;
  for (int round = 0; round < 20; ++round) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      ::close(ends[0]);
      serve_until_killed(folder.log(), ends[1], round);
    }
    ::close(ends[1]);
    acknowledged += read_until_killed(ends[0], child, 1 + random() % 300);
    ::close(ends[0]);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "exit " << WEXITSTATUS(status);
    if (round % 6 == 3)
      std::filesystem::rename(folder.log(), folder.file(fmt::format("audit.jsonl-202311{:02}", round + 1)));
  }
  SystemClock clock;
  {
    Ledger ledger({folder.log()}, clock);
    ASSERT_TRUE(ledger.start());
  }
  const Verification result = verify_log(folder.log(), Scope::whole);
  EXPECT_TRUE(result.ok) << result.reason;
  std::string everything = slurp(folder.log());
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(folder.log()).parent_path()))
    if (entry.path() != folder.log()) everything += slurp(entry.path().string());
  std::set<std::string> closed;
  std::istringstream lines(everything);
  for (std::string line; std::getline(lines, line);) {
    const auto record = json::parse_object(line);
    if (record && json::find_string(*record, "outcome") == "ok")
      closed.emplace(*json::find_string(*record, "request_id"));
  }
  std::istringstream ids(acknowledged);
  std::size_t checked = 0;
  for (std::string id; std::getline(ids, id); ++checked) EXPECT_TRUE(closed.contains(id)) << id;
  EXPECT_GT(checked, 500U);
}

TEST(Durability, RotationInMidWriteKeepsTheChain) {
  World world;
  int closed = 0;
  for (int i = 0; i < 8; ++i) {
    auto client = [](World& w, int& done, int number) -> io::Task<void> {
      for (int k = 0; k < 50; ++k) {
        RELAY_CO_TRY(authority::Recorded recorded,
                     co_await w.journal->open(make_grant(fmt::format("req_{}_{}", number, k))));
        if (number == 0 && k % 10 == 5)
          std::filesystem::rename(w.folder.log(), w.folder.file(fmt::format("audit.jsonl.{}", k)));
        RELAY_CO_CHECK(
            co_await w.journal->close(std::move(recorded), authority::make_outcome(Ending::ok, "x")));
        ++done;
      }
      co_return Result<void>{};
    };
    io::spawn(world.loop.get_executor(), client(world, closed, i), "client");
  }
  world.loop.run();
  EXPECT_EQ(closed, 400);
  const Verification result = verify_log(world.folder.log(), Scope::whole);
  EXPECT_TRUE(result.ok) << result.reason;
  EXPECT_EQ(result.records, 401U);
}

}  // namespace
}  // namespace relay::audit
