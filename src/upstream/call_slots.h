// CallSlots: how many calls a server gets at once and per minute. First come, first served, in a bounded
// line.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <string>

#include "base/clock.h"
#include "io/event.h"
#include "io/task.h"

namespace relay::upstream {

class CallSlots : public std::enable_shared_from_this<CallSlots> {
 public:
  struct Bounds {
    std::string server;  // for the errors
    std::size_t open_max;
    std::size_t waiting_max;
    std::size_t per_minute;  // 0: no limit
  };

  /// The right to have one call open. Gives its place to the next one when it goes.
  class Place {
   public:
    explicit Place(std::shared_ptr<CallSlots> admission) : admission_(std::move(admission)) {}
    Place(Place&&) noexcept = default;
    Place& operator=(Place&&) = delete;
    ~Place() {
      if (admission_) admission_->leave();
    }

   private:
    std::shared_ptr<CallSlots> admission_;
  };

  CallSlots(io::Loop executor, const Clock& clock, Bounds bounds);

  /// Fails as busy when the line or the minute is full, and says when to try again; as timeout after
  /// `deadlines`.
  io::Task<Place> enter(std::chrono::milliseconds deadlines);
  [[nodiscard]] std::size_t open() const { return open_; }
  [[nodiscard]] std::size_t waiting() const { return line_.size(); }

 private:
  struct Waiter {
    explicit Waiter(const io::Loop& executor) : turn(executor) {}
    io::Event turn;
  };

  Result<void> spend_token();
  io::Task<void> wait_in_line(std::chrono::milliseconds deadlines);
  void leave();
  void give_up(const std::shared_ptr<Waiter>& waiter);

  io::Loop executor_;
  const Clock& clock_;
  Bounds bounds_;
  std::size_t open_ = 0;
  std::deque<std::shared_ptr<Waiter>> line_;
  double tokens_;
  MonoTime refilled_;
};

}  // namespace relay::upstream
