// Waker: one coroutine waits until another one says that something is new. No timer and no system call behind
// it, which is what sets it apart from io::Event: the path of every reply goes through here.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "io/task.h"

namespace relay::io {

class Waker {
 public:
  explicit Waker(Loop executor) : executor_(std::move(executor)) {}

  /// Resumes the waiter from the loop, never from within this call. Without a waiter nothing is remembered:
  /// the waiter looks at its condition before it waits.
  void wake() { complete(state_, executor_, {}); }

  /// One waiter at a time. Throws on cancellation, like every operation.
  asio::awaitable<void> wait() {
    return asio::async_initiate<const asio::use_awaitable_t<>, void(boost::system::error_code)>(
        [this](auto handler) { start(std::move(handler)); }, asio::use_awaitable);
  }

 private:
  using Waiter = std::move_only_function<void(boost::system::error_code)>;
  struct State {
    Waiter waiter;
  };

  template <class Handler>
  void start(Handler handler) {
    if (!state_) state_ = std::make_shared<State>();
    auto slot = asio::get_associated_cancellation_slot(handler);
    if (slot.is_connected()) {
      // Weak: the slot may outlive this Waker.
      slot.assign([weak = std::weak_ptr(state_), executor = executor_](asio::cancellation_type) {
        if (const auto state = weak.lock()) complete(state, executor, asio::error::operation_aborted);
      });
    }
    state_->waiter = std::move(handler);
  }

  static void complete(const std::shared_ptr<State>& state, const Loop& executor,
                       boost::system::error_code error) {
    if (!state || !state->waiter) return;
    Waiter waiter = std::exchange(state->waiter, {});
    asio::post(executor, [waiter = std::move(waiter), error]() mutable { waiter(error); });
  }

  Loop executor_;
  std::shared_ptr<State> state_;  // made by the first wait: most replies are there before anybody waits
};

}  // namespace relay::io
