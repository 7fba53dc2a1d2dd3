// ThreadPool: where blocking work goes (disk, DNS, hashing megabytes), so that the loop never waits.
#pragma once

#include <type_traits>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "io/task.h"

namespace relay::io {

class ThreadPool {
 public:
  explicit ThreadPool(std::size_t threads) : pool_(threads) {}
  ~ThreadPool() { pool_.join(); }
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// Runs work on a pool thread and resumes on the loop. Work returns a Result. It is not interrupted by
  /// cancellation: it must bound itself, and own everything that it touches.
  template <class Work>
  auto run(Work work) -> asio::awaitable<std::invoke_result_t<Work&>>;

  asio::thread_pool::executor_type executor() { return pool_.get_executor(); }

 private:
  asio::thread_pool pool_;
};

template <class Work>
auto ThreadPool::run(Work work) -> asio::awaitable<std::invoke_result_t<Work&>> {
  using Outcome = std::invoke_result_t<Work&>;
  auto on_pool = [](Work owned) -> asio::awaitable<Outcome> { co_return owned(); };
  co_return co_await asio::co_spawn(pool_, on_pool(std::move(work)), asio::use_awaitable);
}

}  // namespace relay::io
