#include "io/event.h"

#include "io/spawn.h"

namespace relay::io {
namespace {

// A timer that was cancelled by set() ends the wait; one that was cancelled from above must unwind.
Task<void> throw_if_cancelled(const boost::system::error_code& error) {
  if (!error) co_return Result<void>{};
  const auto state = co_await asio::this_coro::cancellation_state;
  if (state.cancelled() != asio::cancellation_type::none) throw boost::system::system_error(error);
  co_return Result<void>{};
}

}  // namespace

Task<void> Event::wait() {
  while (!set_) {
    boost::system::error_code error;
    co_await timer_.async_wait(asio::redirect_error(asio::use_awaitable, error));
    RELAY_CO_CHECK(co_await throw_if_cancelled(error));
  }
  co_return Result<void>{};
}

Task<bool> Event::wait_until(std::chrono::steady_clock::time_point deadline) {
  if (set_) co_return true;
  // A second timer: the first one is shared by all waiters, each with its own deadline.
  auto waited = co_await with_timeout(wait(), deadline - std::chrono::steady_clock::now(), "");
  if (!waited && waited.error().kind != ErrorKind::timeout) co_return fail(std::move(waited.error()));
  co_return set_;
}

}  // namespace relay::io
