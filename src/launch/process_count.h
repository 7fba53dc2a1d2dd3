// ProcessCount: how many processes of ours are not gone yet, also those that nobody holds any more. Whoever
// shuts down waits for zero.
#pragma once

#include <cstddef>
#include <memory>

#include "io/event.h"
#include "io/task.h"

namespace relay::launch {

class ProcessCount : public std::enable_shared_from_this<ProcessCount> {
 public:
  explicit ProcessCount(const io::Loop& executor) : none_left_(executor) { none_left_.set(); }

  /// One process, from its start until it was reaped.
  class Head {
   public:
    explicit Head(std::shared_ptr<ProcessCount> count) : count_(std::move(count)) {
      ++count_->heads_;
      count_->none_left_.clear();
    }
    Head(Head&&) noexcept = default;
    Head& operator=(Head&&) = delete;
    ~Head() {
      if (count_ && --count_->heads_ == 0) count_->none_left_.set();
    }

   private:
    std::shared_ptr<ProcessCount> count_;
  };

  Head enter() { return Head(shared_from_this()); }
  [[nodiscard]] std::size_t size() const { return heads_; }
  io::Task<void> wait_for_none() { return none_left_.wait(); }

 private:
  std::size_t heads_ = 0;
  io::Event none_left_;
};

}  // namespace relay::launch
