#include "io/spawn.h"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "io/event.h"
#include "io/test_loop.h"
#include "io/thread_pool.h"

namespace relay::io {
namespace {

using namespace std::chrono_literals;

Task<int> answer() {
  RELAY_CO_CHECK(co_await yield());
  co_return 42;
}

Task<int> never(Loop executor, bool& unwound) {
  struct Guard {
    bool& flag;
    ~Guard() { flag = true; }
  } guard{unwound};
  Event event(executor);
  RELAY_CO_CHECK(co_await event.wait());
  co_return 1;
}

TEST(Timeout, GivesTheValueWhenItComesInTime) {
  TestLoop loop;
  EXPECT_EQ(loop.run(with_timeout(answer(), 10s, "answering")), 42);
}

TEST(Timeout, CancelsWhatTakesTooLongAndSaysWhatItWas) {
  TestLoop loop;
  bool unwound = false;
  const auto result = loop.run(with_timeout(never(loop.executor(), unwound), 5ms, "waiting for nothing"));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::timeout);
  EXPECT_EQ(result.error().message, "waiting for nothing");
  EXPECT_TRUE(unwound);
}

Task<void> wait_and_note(Loop executor, bool& unwound) {
  RELAY_CO_CHECK(co_await never(executor, unwound));
  co_return Result<void>{};
}

TEST(Cancel, ReachesThePendingOperationOfANestedTask) {
  TestLoop loop;
  bool unwound = false;
  CancelSource cancel;
  spawn(loop.executor(), wait_and_note(loop.executor(), unwound), "test", cancel);
  loop.settle();
  EXPECT_FALSE(unwound);
  cancel.cancel();
  loop.settle();
  EXPECT_TRUE(unwound);
}

TEST(Cancel, BeforeTheTaskWaitsStillEndsIt) {
  TestLoop loop;
  bool unwound = false;
  CancelSource cancel;
  spawn(loop.executor(), wait_and_note(loop.executor(), unwound), "test", cancel);
  cancel.cancel();
  loop.settle();
  EXPECT_TRUE(unwound);
}

Task<void> finish_later(Loop executor, Event& go, bool& finished) {
  RELAY_CO_CHECK(co_await go.wait());
  finished = true;
  co_return Result<void>{};
}

Task<void> join_it(Loop executor, Event& go, bool& finished) {
  RELAY_CO_CHECK(co_await join(executor, finish_later(executor, go, finished)));
  co_return Result<void>{};
}

TEST(Join, RunsToItsEndAlthoughTheCallerIsCancelled) {
  TestLoop loop;
  Event go(loop.executor());
  bool finished = false;
  CancelSource cancel;
  spawn(loop.executor(), join_it(loop.executor(), go, finished), "test", cancel);
  loop.settle();
  cancel.cancel();
  loop.settle();
  go.set();
  loop.settle();
  EXPECT_TRUE(finished);
}

TEST(Spawn, ReportsFailuresAndExceptionsButNotCancellations) {
  TestLoop loop;
  std::vector<std::string> reports;
  set_failure_reporter([&](std::string_view task, const Error& error) {
    reports.push_back(fmt::format("{}: {}", task, error.message));
  });
  auto failing = []() -> Task<void> { co_return fail(unavailable("disk on fire")); };
  auto throwing = []() -> Task<void> {
    throw std::runtime_error("boom");
    co_return Result<void>{};
  };
  spawn(loop.executor(), failing(), "first");
  spawn(loop.executor(), throwing(), "second");
  loop.settle();
  set_failure_reporter({});
  EXPECT_EQ(reports, (std::vector<std::string>{"first: disk on fire", "second: boom"}));
}

Task<int> count_items(Queue<int>& queue) {
  int sum = 0;
  for (;;) {
    RELAY_CO_TRY(auto item, co_await queue.pop());
    if (!item) co_return sum;
    sum += *item;
  }
}

TEST(Queue, GivesEverythingThenEndsAndRefusesWhatDoesNotFit) {
  TestLoop loop;
  Queue<int> queue(loop.executor(), 3);
  EXPECT_TRUE(queue.push(1));
  EXPECT_TRUE(queue.push(2));
  EXPECT_TRUE(queue.push(4));
  EXPECT_FALSE(queue.push(8));
  queue.close();
  EXPECT_FALSE(queue.push(16));
  EXPECT_EQ(loop.run(count_items(queue)), 7);
}

TEST(ThreadPool, RunsElsewhereAndResumesOnTheLoop) {
  TestLoop loop;
  ThreadPool pool(2);
  const auto loop_thread = std::this_thread::get_id();
  auto task = [&]() -> Task<bool> {
    RELAY_CO_TRY(const auto elsewhere,
                 co_await pool.run([]() -> Result<std::thread::id> { return std::this_thread::get_id(); }));
    co_return elsewhere != loop_thread&& std::this_thread::get_id() == loop_thread;
  };
  EXPECT_EQ(loop.run(task()), true);
}

Task<void> block_on_pool(ThreadPool& pool, std::atomic<bool>& go, std::atomic<bool>& ended) {
  auto work = [&go, &ended]() -> Result<void> {
    while (!go) std::this_thread::yield();
    ended = true;
    return {};
  };
  co_return co_await pool.run(std::move(work));
}

TEST(ThreadPool, ACancelledCallerLeavesWhileTheWorkEndsOnItsOwn) {
  TestLoop loop;
  std::atomic<bool> go = false;
  std::atomic<bool> ended = false;
  {
    ThreadPool pool(2);
    for (int i = 0; i < 50; ++i) {
      CancelSource cancel;
      spawn(loop.executor(), block_on_pool(pool, go, ended), "test", cancel);
      loop.settle();
      cancel.cancel();
      loop.settle();
    }
    EXPECT_FALSE(ended);
    go = true;
  }
  loop.settle();
  EXPECT_TRUE(ended);
}

}  // namespace
}  // namespace relay::io
