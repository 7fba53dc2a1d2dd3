#include "executors/run_queue.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>

#include "io/spawn.h"

namespace relay::executors {
namespace {

using namespace std::chrono_literals;

class RunQueueTest : public testing::Test {
 protected:
  // Enters, notes its name when its turn comes, holds the place until told to leave.
  io::Task<void> visit(std::shared_ptr<RunQueue> queue, std::string name, io::Event& leave,
                       std::string owner = "one") {
    auto ticket = co_await queue->enter(std::move(owner));
    if (!ticket) {
      log.push_back(name + " " + std::string(ticket.error().face().outcome));
      co_return Result<void>{};
    }
    log.push_back(name);
    RELAY_CO_CHECK(co_await leave.wait());
    co_return Result<void>{};
  }

  void settle() {
    loop.restart();
    loop.run_for(20ms);
  }

  boost::asio::io_context loop{1};
  std::vector<std::string> log;
};

TEST_F(RunQueueTest, LetsInSoManyAndTheRestInTheirOrder) {
  const auto queue = RunQueue::make(loop.get_executor(), {.computing_max = 2, .waiting_max = 10});
  io::Event first(loop.get_executor());
  io::Event others(loop.get_executor());
  for (const char* name : {"a", "b", "c", "d", "e"})
    io::spawn(loop.get_executor(), visit(queue, name, name[0] == 'a' ? first : others), name);
  settle();
  EXPECT_EQ(log, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(queue->waiting(), 3U);
  first.set();
  settle();
  EXPECT_EQ(log, (std::vector<std::string>{"a", "b", "c"}));
  others.set();
  settle();
  EXPECT_EQ(log, (std::vector<std::string>{"a", "b", "c", "d", "e"}));
  EXPECT_EQ(queue->running(), 0U);
}

TEST_F(RunQueueTest, AFullLineSaysBusy) {
  const auto queue = RunQueue::make(loop.get_executor(), {.computing_max = 1, .waiting_max = 1});
  io::Event leave(loop.get_executor());
  for (const char* name : {"a", "b", "c"}) io::spawn(loop.get_executor(), visit(queue, name, leave), name);
  settle();
  ASSERT_EQ(log.size(), 2U);
  EXPECT_EQ(log[1], "c " + std::string(face_of(ErrorKind::busy).outcome));
  leave.set();
  settle();
}

TEST_F(RunQueueTest, NobodyWaitsForEver) {
  const auto queue =
      RunQueue::make(loop.get_executor(), {.computing_max = 1, .waiting_max = 5, .wait_max = 1ms});
  io::Event leave(loop.get_executor());
  for (const char* name : {"a", "b"}) io::spawn(loop.get_executor(), visit(queue, name, leave), name);
  settle();
  ASSERT_EQ(log.size(), 2U);
  EXPECT_EQ(log[1], "b " + std::string(face_of(ErrorKind::timeout).outcome));
  EXPECT_EQ(queue->waiting(), 0U);
  leave.set();
  settle();
  EXPECT_EQ(queue->running(), 0U);
}

TEST_F(RunQueueTest, SomebodyWhoIsCancelledInLineLeavesNoHole) {
  const auto queue = RunQueue::make(loop.get_executor(), {.computing_max = 1, .waiting_max = 5});
  io::Event leave(loop.get_executor());
  io::CancelSource cancel;
  io::spawn(loop.get_executor(), visit(queue, "a", leave), "a");
  io::spawn(loop.get_executor(), visit(queue, "b", leave), "b", cancel);
  io::spawn(loop.get_executor(), visit(queue, "c", leave), "c");
  settle();
  cancel.cancel();
  settle();
  EXPECT_EQ(queue->waiting(), 1U);
  leave.set();
  settle();
  EXPECT_EQ(log, (std::vector<std::string>{"a", "c"}));
  EXPECT_EQ(queue->running(), 0U);
}

// The turn has come and the event is set, but the waiter is unwound before it runs: its place must go on to
// the next.
TEST_F(RunQueueTest, ATurnThatNobodyTakesGoesToTheNext) {
  const auto queue = RunQueue::make(loop.get_executor(), {.computing_max = 1, .waiting_max = 5});
  io::Event leave_a(loop.get_executor());
  io::Event leave(loop.get_executor());
  io::CancelSource cancel;
  io::spawn(loop.get_executor(), visit(queue, "a", leave_a), "a");
  io::spawn(loop.get_executor(), visit(queue, "b", leave), "b", cancel);
  io::spawn(loop.get_executor(), visit(queue, "c", leave), "c");
  settle();
  leave_a.set();
  cancel.cancel();
  settle();
  leave.set();
  settle();
  EXPECT_EQ(log.back(), "c");
  EXPECT_EQ(queue->running(), 0U);
  EXPECT_EQ(queue->waiting(), 0U);
}

// Enters, computes until told to wait, waits until told to leave.
io::Task<void> sleep_in(std::shared_ptr<RunQueue> queue, std::vector<std::string>& log, std::string owner,
                        io::Event& leave) {
  RELAY_CO_TRY(RunQueue::Ticket ticket, co_await queue->enter(owner));
  log.push_back("sleeper of " + owner);
  ticket.set_pace(RunPace::waits);
  RELAY_CO_CHECK(co_await leave.wait());
  ticket.set_pace(RunPace::computes);
  co_return Result<void>{};
}

TEST_F(RunQueueTest, FourSleepersDoNotDelayAFifthRun) {
  const auto queue = RunQueue::make(loop.get_executor(), {.computing_max = 1, .waiting_max = 10});
  io::Event wake(loop.get_executor());
  io::Event leave(loop.get_executor());
  for (int i = 0; i < 4; ++i) io::spawn(loop.get_executor(), sleep_in(queue, log, "one", wake), "sleeper");
  io::spawn(loop.get_executor(), visit(queue, "fifth", leave), "fifth");
  settle();
  EXPECT_EQ(log.back(), "fifth");
  EXPECT_EQ(queue->running(), 5U);
  EXPECT_EQ(queue->computing(), 1U);
  wake.set();
  leave.set();
  settle();
  EXPECT_EQ(queue->running(), 0U);
  EXPECT_EQ(queue->computing(), 0U);
}

TEST_F(RunQueueTest, WaitingRunsAreBoundedTogetherAndForEachClient) {
  const auto queue = RunQueue::make(
      loop.get_executor(), {.computing_max = 4, .alive_max = 3, .alive_per_owner_max = 2, .waiting_max = 10});
  io::Event wake(loop.get_executor());
  for (const char* owner : {"one", "one", "one", "two", "two"})
    io::spawn(loop.get_executor(), sleep_in(queue, log, owner, wake), owner);
  settle();
  EXPECT_EQ(log, (std::vector<std::string>{"sleeper of one", "sleeper of one", "sleeper of two"}));
  EXPECT_EQ(queue->waiting(), 2U);
  wake.set();
  settle();
  EXPECT_EQ(log.size(), 5U);
  EXPECT_EQ(queue->running(), 0U);
}

TEST_F(RunQueueTest, TheClientWithTheFewestRunsGoesFirst) {
  const auto queue = RunQueue::make(loop.get_executor(), {.computing_max = 2, .waiting_max = 10});
  io::Event first(loop.get_executor());
  io::Event leave(loop.get_executor());
  io::spawn(loop.get_executor(), visit(queue, "a1", first, "a"), "a1");
  for (const char* name : {"a2", "a3", "a4", "b1"})
    io::spawn(loop.get_executor(), visit(queue, name, leave, std::string(1, name[0])), name);
  settle();
  EXPECT_EQ(log, (std::vector<std::string>{"a1", "a2"}));
  first.set();
  settle();
  EXPECT_EQ(log.back(), "b1");
  leave.set();
  settle();
  EXPECT_EQ(log, (std::vector<std::string>{"a1", "a2", "b1", "a3", "a4"}));
}

}  // namespace
}  // namespace relay::executors
