#include "io/thread_pool.h"

#include <exception>

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>

#include "io/event.h"

namespace relay::io {

/// Where the caller waits; only the loop thread looks into it.
struct ThreadPool::Handover {
  explicit Handover(const Loop& loop) : done(loop) {}
  Event done;
  std::exception_ptr thrown;
};

asio::awaitable<void> ThreadPool::perform(std::shared_ptr<Job> job) {
  const Loop loop = co_await asio::this_coro::executor;
  auto handover = std::make_shared<Handover>(loop);
  asio::post(pool_, [handover, loop, job = std::move(job)]() mutable {
    std::exception_ptr thrown;
    try {
      job->run();
    } catch (...) {
      thrown = std::current_exception();
    }
    // The job goes along: when the caller is gone, its result is destroyed on the loop.
    asio::post(loop, [handover = std::move(handover), job = std::move(job), thrown] {
      handover->thrown = thrown;
      handover->done.set();
    });
  });
  [[maybe_unused]] const auto waited = co_await handover->done.wait();  // throws when the caller is cancelled
  if (handover->thrown) std::rethrow_exception(handover->thrown);
}

void ThreadPool::post(std::move_only_function<void()> work) {
  asio::post(pool_, std::move(work));
}

}  // namespace relay::io
