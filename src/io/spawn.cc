#include "io/spawn.h"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/multiple_exceptions.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/system_error.hpp>

namespace relay::io {
namespace {

// The one piece of process-wide state: where failures of detached work go. Set once by app/ before the loop
// runs.
FailureReporter& reporter() {
  static FailureReporter instance;
  return instance;
}

auto completion(std::string name) {
  return [name = std::move(name)](const std::exception_ptr& thrown, const Result<void>& result) {
    if (thrown && !is_cancellation(thrown)) report_failure(name, error_from(thrown));
    if (!thrown && !result && result.error().kind != ErrorKind::cancelled)
      report_failure(name, result.error());
  };
}

}  // namespace

bool is_cancellation(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const boost::system::system_error& error) {
    return error.code() == asio::error::operation_aborted;
  } catch (const asio::multiple_exceptions& several) {
    // What race() throws when both tasks are cancelled.
    return is_cancellation(several.first_exception());
  } catch (...) {
    return false;
  }
}

Error error_from(const std::exception_ptr& thrown) {
  if (is_cancellation(thrown)) return cancelled();
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& error) {
    return internal(error.what());
  } catch (...) {
    return internal("an exception of unknown type");
  }
}

void set_failure_reporter(FailureReporter new_reporter) {
  reporter() = std::move(new_reporter);
}

void report_failure(std::string_view task, const Error& error) {
  if (reporter()) reporter()(task, error);
}

void spawn(Loop executor, Task<void> task, std::string name) {
  asio::co_spawn(executor, std::move(task), completion(std::move(name)));
}

namespace {

// A task that is cancelled in its last breath, by itself or by what it woke, has nothing left to unwind. Asio
// would still throw from its own frame, where nobody catches it.
Task<void> past_cancelling(Task<void> task) {
  Result<void> result;
  std::exception_ptr thrown;
  try {
    result = co_await std::move(task);
  } catch (...) {
    thrown = std::current_exception();
  }
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  if (thrown) std::rethrow_exception(thrown);
  co_return result;
}

}  // namespace

// Asio's own handler emits from a posted function that points into the signal's memory; whoever cancels from
// outside the loop and lets go of the CancelSource would pull it away. So the coroutine has a signal of its
// own, and the posted function owns it.
void spawn(Loop executor, Task<void> task, std::string name, CancelSource cancel) {
  auto own = std::make_shared<asio::cancellation_signal>();
  cancel.state_->signal.slot().assign([own, executor](asio::cancellation_type type) {
    asio::dispatch(executor, [own, type] { own->emit(type); });
  });
  // The handler keeps both signals alive for as long as the coroutine is.
  auto handler = [own, keep = cancel.state_, done = completion(std::move(name))](
                     const std::exception_ptr& thrown, const Result<void>& result) {
    keep->signal.slot().clear();
    done(thrown, result);
  };
  asio::co_spawn(executor, past_cancelling(std::move(task)),
                 asio::bind_cancellation_slot(own->slot(), std::move(handler)));
}

Task<void> sleep_for(std::chrono::steady_clock::duration duration) {
  asio::steady_timer timer(co_await asio::this_coro::executor, duration);
  co_await timer.async_wait(asio::use_awaitable);
  co_return Result<void>{};
}

Task<void> yield() {
  co_await asio::post(co_await asio::this_coro::executor, asio::use_awaitable);
  co_return Result<void>{};
}

asio::awaitable<Winner> race(Task<void> first, Task<void> second) {
  using namespace asio::experimental::awaitable_operators;
  const auto outcome = co_await (std::move(first) || std::move(second));
  co_return outcome.index() == 0 ? Winner::first : Winner::second;
}

Task<void> both(Task<void> first, Task<void> second) {
  using namespace asio::experimental::awaitable_operators;
  const auto [one, two] = co_await (std::move(first) && std::move(second));
  co_return one ? two : one;
}

namespace {

// Does not throw when it is cancelled: a timer that is not needed any more need not be unwound.
Task<void> wait_for(asio::steady_timer& timer, boost::system::error_code& stopped) {
  co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, stopped));
  co_return Result<void>{};
}

}  // namespace

asio::awaitable<bool> detail::ends_in_time(Task<void> task, std::chrono::steady_clock::duration limit) {
  asio::steady_timer timer(co_await asio::this_coro::executor, limit);
  boost::system::error_code stopped;
  if (co_await race(std::move(task), wait_for(timer, stopped)) == Winner::first) co_return true;
  if (stopped) throw boost::system::system_error(stopped);  // both were: the caller is cancelled
  co_return false;
}

}  // namespace relay::io
