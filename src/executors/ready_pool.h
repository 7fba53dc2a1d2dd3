// ReadyPool: a few children of one zygote that are forked, walled in and waiting, so that a run is one
// message.
//
// take() gives one at once when there is one. Forking its successor and ending children that have served
// costs more processor time than a run, so both are deferred until the caller has its answer. When few
// children are left they are done at once.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

#include <boost/asio/steady_timer.hpp>

#include "executors/run_child.h"
#include "executors/zygote.h"
#include "io/spawn.h"

namespace relay::executors {

class ReadyPool : public std::enable_shared_from_this<ReadyPool> {
 public:
  static std::shared_ptr<ReadyPool> make(const io::Loop& executor, std::shared_ptr<Zygote> zygote,
                                         std::size_t target);

  /// A ready child; forks one when none is ready.
  io::Task<RunChild> take();
  /// Ends a child whose run is over and said so; it has nothing to run and nobody to talk to.
  void discard(std::shared_ptr<RunChild> child);
  /// How many wait, without those that have died meanwhile.
  [[nodiscard]] std::size_t ready() const;
  /// Ends the waiting children and keeps no new ones.
  void close();

  [[nodiscard]] Zygote& zygote() const { return *zygote_; }

 private:
  ReadyPool(const io::Loop& executor, std::shared_ptr<Zygote> zygote, std::size_t target)
      : executor_(executor), zygote_(std::move(zygote)), target_(target), chores_(executor) {}
  void plan_chores();
  void refill();
  io::Task<void> fill();
  void drop_dead();

  io::Loop executor_;
  std::shared_ptr<Zygote> zygote_;
  std::size_t target_;
  std::deque<RunChild> children_;
  std::vector<std::shared_ptr<RunChild>> spent_;
  boost::asio::steady_timer chores_;
  bool chores_planned_ = false;
  bool filling_ = false;
  io::CancelSource cancel_;
};

}  // namespace relay::executors
