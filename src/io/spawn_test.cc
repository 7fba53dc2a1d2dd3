#include "io/spawn.h"

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <boost/asio/multiple_exceptions.hpp>

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

TEST(Timeout, GivesTheErrorOfTheTask) {
  TestLoop loop;
  auto failing = []() -> Task<int> { co_return fail(unavailable("disk on fire")); };
  const auto result = loop.run(with_timeout(failing(), 10s, "waiting"));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "disk on fire");
}

TEST(Timeout, GivesAValueThatCannotBeCopied) {
  TestLoop loop;
  auto making = []() -> Task<std::unique_ptr<int>> { co_return std::make_unique<int>(7); };
  const auto result = loop.run(with_timeout(making(), 10s, "making"));
  ASSERT_TRUE(result);
  EXPECT_EQ(**result, 7);
}

// What with_timeout threw, or the kind of error that it returned.
Task<void> note_end_of_timeout(Loop executor, bool& unwound, std::string& end) {
  try {
    const auto result = co_await with_timeout(never(executor, unwound), 10s, "waiting for nothing");
    end = result ? "a value" : result.error().message;
  } catch (...) {
    end = is_cancellation(std::current_exception()) ? "cancelled" : "another exception";
    throw;
  }
  co_return Result<void>{};
}

TEST(Timeout, ACancelledCallerUnwindsAsCancelledNotAsTimedOut) {
  TestLoop loop;
  bool unwound = false;
  std::string end;
  CancelSource cancel;
  spawn(loop.executor(), note_end_of_timeout(loop.executor(), unwound, end), "test", cancel);
  loop.settle();
  EXPECT_EQ(end, "");
  cancel.cancel();
  loop.settle();
  EXPECT_TRUE(unwound);
  EXPECT_EQ(end, "cancelled");
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

Task<void> return_soon() {
  co_return co_await yield();
}

Task<void> fail_soon(std::string message) {
  RELAY_CO_CHECK(co_await yield());
  co_return fail(unavailable(std::move(message)));
}

Task<void> throw_soon(std::string message) {
  RELAY_CO_CHECK(co_await yield());
  throw std::runtime_error(message);
}

Task<Winner> winner_of(Task<void> first, Task<void> second) {
  co_return co_await race(std::move(first), std::move(second));
}

TEST(Race, TheFirstToReturnCancelsTheOther) {
  TestLoop loop;
  bool unwound = false;
  EXPECT_EQ(loop.run(winner_of(return_soon(), wait_and_note(loop.executor(), unwound))), Winner::first);
  EXPECT_TRUE(unwound);
  unwound = false;
  EXPECT_EQ(loop.run(winner_of(wait_and_note(loop.executor(), unwound), return_soon())), Winner::second);
  EXPECT_TRUE(unwound);
}

TEST(Race, ATaskThatReturnsAnErrorWinsToo) {
  TestLoop loop;
  bool unwound = false;
  EXPECT_EQ(loop.run(winner_of(wait_and_note(loop.executor(), unwound), fail_soon("no"))), Winner::second);
  EXPECT_TRUE(unwound);
}

TEST(Race, ATaskThatThrowsLeavesTheRaceToTheOther) {
  TestLoop loop;
  EXPECT_EQ(loop.run(winner_of(throw_soon("boom"), sleep_for(5ms))), Winner::second);
}

TEST(Race, ThrowsWhatWasThrownFirstWhenBothThrow) {
  TestLoop loop;
  std::string said;
  auto note_first = [](std::string& place) -> Task<void> {
    try {
      co_await race(throw_soon("boom"), throw_soon("bang"));
    } catch (const asio::multiple_exceptions& several) {
      place = error_from(several.first_exception()).message;
    }
    co_return Result<void>{};
  };
  ASSERT_TRUE(loop.run(note_first(said)));
  EXPECT_EQ(said, "boom");
}

Task<void> race_of_two(Loop executor, bool& one, bool& two) {
  co_await race(wait_and_note(executor, one), wait_and_note(executor, two));
  co_return Result<void>{};
}

TEST(Race, ACancelledCallerUnwindsBothAndNothingIsReported) {
  TestLoop loop;
  std::vector<std::string> reports;
  set_failure_reporter([&](std::string_view, const Error& error) { reports.push_back(error.message); });
  bool one = false;
  bool two = false;
  CancelSource cancel;
  spawn(loop.executor(), race_of_two(loop.executor(), one, two), "test", cancel);
  loop.settle();
  EXPECT_FALSE(one || two);
  cancel.cancel();
  loop.settle();
  set_failure_reporter({});
  EXPECT_TRUE(one && two);
  EXPECT_TRUE(reports.empty());
}

TEST(Both, WaitsForBothAndGivesTheFirstTasksErrorBeforeTheSeconds) {
  TestLoop loop;
  std::optional<Result<int>> stored;
  EXPECT_TRUE(loop.run(both(store_result(answer(), stored), sleep_for(5ms))));
  EXPECT_EQ(stored, 42);
  stored.reset();
  const auto second = loop.run(both(store_result(answer(), stored), fail_soon("second")));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().message, "second");
  EXPECT_EQ(stored, 42);
  const auto first = loop.run(both(fail_soon("first"), fail_soon("second")));
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().message, "first");
}

TEST(Both, AnExceptionCancelsTheOtherAndGoesOn) {
  TestLoop loop;
  bool unwound = false;
  const auto result = loop.run(both(throw_soon("boom"), wait_and_note(loop.executor(), unwound)));
  ASSERT_FALSE(result);
  EXPECT_TRUE(unwound);
  EXPECT_EQ(result.error().kind, ErrorKind::internal);
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

TEST(ThreadPool, GivesAValueThatCannotBeCopied) {
  TestLoop loop;
  ThreadPool pool(1);
  auto work = []() -> Result<std::unique_ptr<int>> { return std::make_unique<int>(7); };
  const auto result = loop.run(pool.run(work));
  ASSERT_TRUE(result);
  EXPECT_EQ(**result, 7);
}

TEST(ThreadPool, WhatTheWorkThrowsReachesTheCaller) {
  TestLoop loop;
  ThreadPool pool(1);
  auto work = []() -> Result<int> { throw std::runtime_error("boom"); };
  const auto result = loop.run(pool.run(work));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "boom");
}

// Says on which thread it was destroyed.
struct DestructionNote {
  explicit DestructionNote(std::thread::id& place) : place_(&place) {}
  DestructionNote(DestructionNote&& other) noexcept : place_(std::exchange(other.place_, nullptr)) {}
  ~DestructionNote() {
    if (place_) *place_ = std::this_thread::get_id();
  }

 private:
  std::thread::id* place_;
};

TEST(ThreadPool, WhatTheWorkOwnsIsDestroyedThereAndItsResultOnTheLoop) {
  TestLoop loop;
  std::thread::id work_ended;
  std::thread::id result_ended;
  std::thread::id pool_thread;
  std::atomic<bool> go = false;
  {
    ThreadPool pool(1);
    auto waiting = [](ThreadPool& where, std::thread::id& ran, std::thread::id& work_end,
                      std::thread::id& result_end, std::atomic<bool>& start) -> Task<void> {
      auto work = [owned = DestructionNote(work_end), &ran, &result_end,
                   &start]() -> Result<DestructionNote> {
        while (!start) std::this_thread::yield();
        ran = std::this_thread::get_id();
        return DestructionNote(result_end);
      };
      RELAY_CO_TRY([[maybe_unused]] const DestructionNote result, co_await where.run(std::move(work)));
      co_return Result<void>{};
    };
    CancelSource cancel;
    spawn(loop.executor(), waiting(pool, pool_thread, work_ended, result_ended, go), "test", cancel);
    loop.settle();
    cancel.cancel();
    loop.settle();
    go = true;
  }
  EXPECT_EQ(work_ended, pool_thread);
  EXPECT_EQ(result_ended, std::thread::id());
  loop.settle();
  EXPECT_EQ(result_ended, std::this_thread::get_id());
}

TEST(ThreadPool, PostedWorkIsDoneBeforeThePoolIsGone) {
  std::atomic<int> done = 0;
  {
    ThreadPool pool(2);
    for (int i = 0; i < 20; ++i) pool.post([&done, one = std::make_unique<int>(1)] { done += *one; });
  }
  EXPECT_EQ(done, 20);
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
