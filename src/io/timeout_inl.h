// The template body of with_timeout; include spawn.h instead.
#pragma once

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/redirect_error.hpp>

namespace relay::io {

template <class T>
Task<T> with_timeout(Task<T> task, std::chrono::steady_clock::duration limit, std::string what) {
  using namespace asio::experimental::awaitable_operators;
  asio::steady_timer timer(co_await asio::this_coro::executor, limit);
  boost::system::error_code stopped;  // a timer that is not needed any more need not be unwound
  auto outcome =
      co_await (std::move(task) || timer.async_wait(asio::redirect_error(asio::use_awaitable, stopped)));
  if (outcome.index() == 0) co_return std::get<0>(std::move(outcome));
  if (stopped) throw boost::system::system_error(stopped);  // both were: whoever waits for us is cancelled
  co_return fail(timed_out(std::move(what)));
}

}  // namespace relay::io
