// ThreadPool: where blocking work goes (disk, DNS, hashing megabytes), so that the loop never waits.
//
// app/ owns the pools; each ends after the loop has stopped running. run() may be called on the loop thread
// only and resumes there; the job runs on a pool thread, so it owns copies of what it uses. A caller that is
// cancelled stops waiting; its job still runs to the end.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <boost/asio/thread_pool.hpp>

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
  /// own everything that it touches. What the work throws is thrown here.
  template <class Work>
  auto run(Work work) -> asio::awaitable<std::invoke_result_t<Work&>> {
    auto job = std::make_shared<JobOf<Work>>(std::move(work));
    co_await perform(job);
    co_return *std::move(job->outcome);
  }

  /// Runs work on a pool thread and forgets it. The work must not throw.
  void post(std::move_only_function<void()> work);

 private:
  /// Work of any type, so that what waits for it is compiled once. The result is written by the pool thread
  /// before the loop hears of it, and is only read and destroyed on the loop.
  struct Job {
    virtual ~Job() = default;
    virtual void run() = 0;
  };
  template <class Work>
  struct JobOf : Job {
    explicit JobOf(Work given) : work(std::move(given)) {}
    void run() override {
      Work owned = *std::move(work);  // what it owns is released on the pool thread, not on the loop
      work.reset();
      outcome.emplace(owned());
    }
    std::optional<Work> work;
    std::optional<std::invoke_result_t<Work&>> outcome;
  };
  struct Handover;

  asio::awaitable<void> perform(std::shared_ptr<Job> job);

  asio::thread_pool pool_;
};

}  // namespace relay::io
