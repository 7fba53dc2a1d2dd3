// RunQueue: who may run now. First come, first served; so many at once; a bounded line behind them.
//
// enter() gives a Ticket when it is one's turn; dropping the ticket lets the next one in. A full line is an
// error that says when to try again, and nobody waits longer than kQueueWait.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>

#include "base/limits.h"
#include "io/event.h"
#include "io/task.h"

namespace relay::executors {

class RunQueue : public std::enable_shared_from_this<RunQueue> {
 public:
  struct Bounds {
    std::size_t running_max = 2;
    std::size_t waiting_max = limits::kQueueDepth;
    std::chrono::steady_clock::duration wait_max = limits::kQueueWait;
  };

  /// The right to run. Movable; gives the place back when it goes.
  class Ticket {
   public:
    explicit Ticket(std::shared_ptr<RunQueue> queue) : queue_(std::move(queue)) {}
    Ticket(Ticket&&) noexcept = default;
    Ticket& operator=(Ticket&&) = delete;
    ~Ticket() {
      if (queue_) queue_->leave();
    }

   private:
    std::shared_ptr<RunQueue> queue_;
  };

  static std::shared_ptr<RunQueue> make(const io::Loop& executor, const Bounds& bounds);

  io::Task<Ticket> enter();
  [[nodiscard]] std::size_t running() const { return running_; }
  [[nodiscard]] std::size_t waiting() const { return line_.size(); }

 private:
  struct Place {
    explicit Place(const io::Loop& executor) : turn(executor) {}
    io::Event turn;
  };

  RunQueue(const io::Loop& executor, const Bounds& bounds) : executor_(executor), bounds_(bounds) {}
  void leave();
  void give_up(const std::shared_ptr<Place>& place);

  io::Loop executor_;
  Bounds bounds_;
  std::size_t running_ = 0;
  std::deque<std::shared_ptr<Place>> line_;
};

}  // namespace relay::executors
