// ThreadPool: where blocking work goes (disk, DNS, hashing megabytes), so that the loop never waits.
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "io/event.h"
#include "io/task.h"

namespace relay::io {

/// Must be destroyed before the loop that its callers run on.
class ThreadPool {
 public:
  explicit ThreadPool(std::size_t threads) : pool_(threads) {}
  ~ThreadPool() { pool_.join(); }
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// Runs work on a pool thread and resumes on the loop. Work is not interrupted by cancellation: a cancelled
  /// caller unwinds at once, the work ends on its own and its result is dropped. So it must bound itself, and
  /// own everything that it touches.
  template <class Work>
  auto run(Work work) -> asio::awaitable<std::invoke_result_t<Work&>>;

  asio::thread_pool::executor_type executor() { return pool_.get_executor(); }

 private:
  /// Where the result waits for the caller; only the loop thread looks into it.
  template <class Outcome>
  struct Handover {
    explicit Handover(const Loop& loop) : done(loop) {}
    Event done;
    std::optional<Outcome> outcome;
    std::exception_ptr thrown;
  };

  asio::thread_pool pool_;
};

template <class Work>
auto ThreadPool::run(Work work) -> asio::awaitable<std::invoke_result_t<Work&>> {
  using Outcome = std::invoke_result_t<Work&>;
  const Loop loop = co_await asio::this_coro::executor;
  auto handover = std::make_shared<Handover<Outcome>>(loop);
  asio::post(pool_, [handover, loop, owned = std::move(work)]() mutable {
    std::optional<Outcome> outcome;
    std::exception_ptr thrown;
    try {
      outcome.emplace(owned());
    } catch (...) {
      thrown = std::current_exception();
    }
    asio::post(loop, [handover = std::move(handover), outcome = std::move(outcome), thrown]() mutable {
      handover->outcome = std::move(outcome);
      handover->thrown = thrown;
      handover->done.set();
    });
  });
  [[maybe_unused]] const auto waited = co_await handover->done.wait();  // throws when the caller is cancelled
  if (handover->thrown) std::rethrow_exception(handover->thrown);
  co_return std::move(*handover->outcome);
}

}  // namespace relay::io
