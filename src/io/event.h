// Waiting for something that another coroutine does. An Event is set once and wakes all who wait; a Queue
// hands values to one reader in order. Their owner must outlive those who wait. Waiting throws when the
// waiting coroutine is cancelled, and takes nothing then. Loop thread only.
#pragma once

#include <chrono>
#include <deque>
#include <optional>
#include <utility>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "io/task.h"

namespace relay::io {

/// Set once (or until cleared); every waiter goes on.
class Event {
 public:
  explicit Event(const Loop& executor) : timer_(executor, asio::steady_timer::time_point::max()) {}

  void set() {
    set_ = true;
    timer_.cancel();
  }
  void clear() { set_ = false; }
  [[nodiscard]] bool is_set() const { return set_; }

  Task<void> wait();
  /// False when the time passed first.
  Task<bool> wait_until(std::chrono::steady_clock::time_point deadline);

 private:
  bool set_ = false;
  asio::steady_timer timer_;
};

/// A bounded queue between coroutines. push never waits: a full queue says so.
template <class T>
class Queue {
 public:
  Queue(const Loop& executor, std::size_t max_items) : ready_(executor), max_items_(max_items) {}

  /// False when the queue is full or closed; the item is dropped.
  bool push(T item) {
    if (closed_ || items_.size() >= max_items_) return false;
    items_.push_back(std::move(item));
    ready_.set();
    return true;
  }
  /// After close, pop gives what is left and then nothing.
  void close() {
    closed_ = true;
    ready_.set();
  }
  [[nodiscard]] bool closed() const { return closed_; }
  [[nodiscard]] std::size_t size() const { return items_.size(); }

  Task<std::optional<T>> pop() {
    while (items_.empty() && !closed_) {
      ready_.clear();
      RELAY_CO_CHECK(co_await ready_.wait());
    }
    if (items_.empty()) co_return std::optional<T>{};
    std::optional<T> item(std::move(items_.front()));
    items_.pop_front();
    co_return item;
  }

 private:
  Event ready_;
  std::deque<T> items_;
  std::size_t max_items_;
  bool closed_ = false;
};

}  // namespace relay::io
