// Starting coroutines, and stopping them.
//
//   spawn(executor, work(), "sweeper");                    runs on its own; a failure is reported, not lost
//   CancelSource cancel; spawn(executor, work(), "call", cancel);   cancel.cancel() unwinds it
//   co_await join(executor, work())                        runs it to the end even if the caller is cancelled
//   co_await race(work(), watch())                         the first to end stops the other
//   co_await with_timeout(work(), 5s, "what it was")       a race against a timer
//
// An exception that is not a cancellation is a defect: it goes to the reporter installed by app/.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/redirect_error.hpp>
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

enum class Winner : std::uint8_t { first, second };

/// Runs both tasks and says which one returned first, whether with a value or with an error; the other one is
/// cancelled and has unwound when this returns. A task that throws does not win: the other one then runs on.
/// Throws when both throw, which is what happens when the caller is cancelled. The tasks may refer to what
/// the caller owns. Not a template: one instantiation of Asio's parallel group takes seconds to compile.
asio::awaitable<Winner> race(Task<void> first, Task<void> second);

/// Runs both tasks to their ends. When one throws, the other one is cancelled, and this throws; if the
/// cancelled one throws too, the first task's exception counts. A task that returns an error does not stop
/// the other one; the result is the first task's error, or else the second's. Results of other types are
/// stored by the tasks, see store_result().
Task<void> both(Task<void> first, Task<void> second);

/// The task with its result stored in `place`, which must outlive it: for race() and both().
template <class T>
Task<void> store_result(Task<T> task, std::optional<Result<T>>& place) {
  place.emplace(co_await std::move(task));
  co_return Result<void>{};
}

namespace detail {
/// True when the task returned in time; false after it was cancelled. Throws when the caller is cancelled.
asio::awaitable<bool> ends_in_time(Task<void> task, std::chrono::steady_clock::duration limit);
}  // namespace detail

/// Fails with a timeout error that says what took too long, after cancelling the task.
template <class T>
Task<T> with_timeout(Task<T> task, std::chrono::steady_clock::duration limit, std::string what) {
  std::optional<Result<T>> result;
  if (co_await detail::ends_in_time(store_result(std::move(task), result), limit))
    co_return *std::move(result);
  co_return fail(timed_out(std::move(what)));
}

}  // namespace relay::io
