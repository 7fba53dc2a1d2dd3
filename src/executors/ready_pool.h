// ReadyPool: a few children of one zygote that are forked, walled in and waiting, so that a run is one message.
//
// take() gives one at once when there is one, and refills behind the caller's back, after the caller had a chance to go on.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>

#include "executors/run_child.h"
#include "executors/zygote.h"
#include "io/spawn.h"

namespace relay::executors {

class ReadyPool : public std::enable_shared_from_this<ReadyPool> {
 public:
  static std::shared_ptr<ReadyPool> make(const io::Executor& executor, std::shared_ptr<Zygote> zygote, std::size_t target);

  /// A ready child; forks one when none is ready.
  io::Task<RunChild> take();
  /// How many wait, without those that have died meanwhile.
  [[nodiscard]] std::size_t ready() const;
  /// Ends the waiting children and keeps no new ones.
  void close();

  [[nodiscard]] Zygote& zygote() const { return *zygote_; }

 private:
  ReadyPool(const io::Executor& executor, std::shared_ptr<Zygote> zygote, std::size_t target)
      : executor_(executor), zygote_(std::move(zygote)), target_(target) {}
  void refill();
  io::Task<void> fill();
  void drop_dead();

  io::Executor executor_;
  std::shared_ptr<Zygote> zygote_;
  std::size_t target_;
  std::deque<RunChild> children_;
  bool filling_ = false;
  io::CancelSource cancel_;
};

}  // namespace relay::executors
