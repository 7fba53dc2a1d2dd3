// Starting coroutines, and stopping them.
//
//   spawn(executor, work(), "sweeper");                    runs on its own; a failure is reported, not lost
//   CancelSource cancel; spawn(executor, work(), "call", cancel);   cancel.cancel() unwinds it
//   co_await join(executor, work())                        runs it to the end even if the caller is cancelled
//
// An exception that is not a cancellation is a defect: it goes to the reporter installed by app/.
#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "io/task.h"

namespace relay::io {

/// True for the exception that a cancelled operation throws.
bool is_cancellation(const std::exception_ptr& thrown);

/// What an exception says, for logs and for turning it into an Error.
Error error_from(const std::exception_ptr& thrown);

/// Receives failures of spawned work that nobody awaits. Called on the loop thread.
using FailureReporter = std::function<void(std::string_view task, const Error& error)>;
void set_failure_reporter(FailureReporter reporter);
void report_failure(std::string_view task, const Error& error);

/// A handle that cancels whatever was spawned with it. Copies share one signal; loop thread only.
class CancelSource {
 public:
  CancelSource() : state_(std::make_shared<State>()) {}
  void cancel() {
    if (state_->requested) return;
    state_->requested = true;
    const std::shared_ptr<State> keep = state_;
    keep->signal.emit(asio::cancellation_type::terminal);
  }
  [[nodiscard]] bool requested() const { return state_->requested; }

 private:
  friend void spawn(Loop, asio::awaitable<Result<void>>, std::string, CancelSource);
  struct State {
    asio::cancellation_signal signal;
    bool requested = false;
  };
  std::shared_ptr<State> state_;
};

void spawn(Loop executor, Task<void> task, std::string name);
void spawn(Loop executor, Task<void> task, std::string name, CancelSource cancel);

/// Waits. Throws on cancellation, like every operation.
Task<void> sleep_for(std::chrono::steady_clock::duration duration);

/// Lets everything else that is ready run first.
Task<void> yield();

namespace detail {
template <class T>
struct JoinState {
  explicit JoinState(const Loop& executor) : done(executor, asio::steady_timer::time_point::max()) {}
  asio::steady_timer done;
  std::optional<Result<T>> result;
};
}  // namespace detail

/// Runs the task as its own coroutine, out of reach of the caller's cancellation. If the caller is cancelled
/// the task still runs to its end.
template <class T>
Task<T> join(Loop executor, Task<T> task) {
  auto state = std::make_shared<detail::JoinState<T>>(executor);
  auto body = [](std::shared_ptr<detail::JoinState<T>> shared, Task<T> inner) -> Task<void> {
    try {
      shared->result = co_await std::move(inner);
    } catch (...) {
      shared->result = fail(error_from(std::current_exception()));
    }
    shared->done.cancel();
    co_return Result<void>{};
  };
  spawn(executor, body(state, std::move(task)), "join");
  while (!state->result) {
    boost::system::error_code ignored;
    co_await state->done.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
  co_return std::move(*state->result);
}

/// Fails with a timeout error that says what took too long, after cancelling the task.
template <class T>
Task<T> with_timeout(Task<T> task, std::chrono::steady_clock::duration limit, std::string what);

}  // namespace relay::io

#include "io/timeout_inl.h"
