// The template body of with_progress; include tool_run.h instead.
#pragma once

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>

namespace relay::packages {

inline io::asio::awaitable<void> report_progress(std::string phase, Progress progress) {
  const auto begin = std::chrono::steady_clock::now();
  io::asio::steady_timer timer(co_await io::asio::this_coro::executor);
  for (auto wait = std::chrono::seconds(1);; wait = std::chrono::seconds(2)) {
    timer.expires_after(wait);
    co_await timer.async_wait(io::asio::use_awaitable);
    progress(phase,
             std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin));
  }
}

template <class T>
io::Task<T> with_progress(io::Task<T> task, std::string phase, Progress progress) {
  using namespace io::asio::experimental::awaitable_operators;
  if (!progress) co_return co_await std::move(task);
  auto outcome = co_await (std::move(task) || report_progress(std::move(phase), std::move(progress)));
  co_return std::get<0>(std::move(outcome));
}

}  // namespace relay::packages
