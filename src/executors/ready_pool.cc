#include "executors/ready_pool.h"

#include <algorithm>

namespace relay::executors {
namespace {

constexpr auto kChoresPause =
    std::chrono::milliseconds(3);  // longer than most short runs take to be answered

}  // namespace

std::shared_ptr<ReadyPool> ReadyPool::make(const io::Loop& executor, std::shared_ptr<Zygote> zygote,
                                           std::size_t target) {
  std::shared_ptr<ReadyPool> pool(new ReadyPool(executor, std::move(zygote), target));
  pool->zygote_->on_change([weak = std::weak_ptr(pool)] {
    if (const auto self = weak.lock()) self->refill();
  });
  return pool;
}

void ReadyPool::drop_dead() {
  std::erase_if(children_, [](const RunChild& child) { return !child.alive(); });
}

std::size_t ReadyPool::ready() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(children_, [](const RunChild& child) { return child.alive(); }));
}

void ReadyPool::close() {
  target_ = 0;
  cancel_.cancel();
  chores_.cancel();
  children_.clear();
  spent_.clear();
}

void ReadyPool::plan_chores() {
  const bool pressed = children_.size() * 2 < target_ || spent_.size() > target_;
  if (chores_planned_ && !pressed) return;
  chores_planned_ = true;
  chores_.expires_after(pressed ? std::chrono::milliseconds(0) : kChoresPause);
  chores_.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
    const auto self = weak.lock();
    if (error || !self) return;
    self->chores_planned_ = false;
    self->spent_.clear();
    self->refill();
  });
}

void ReadyPool::discard(std::shared_ptr<RunChild> child) {
  if (target_ == 0) return;  // closed, or nobody wants children to wait: it ends here
  spent_.push_back(std::move(child));
  plan_chores();
}

void ReadyPool::refill() {
  if (filling_ || children_.size() >= target_ || zygote_->status().phase != ZygotePhase::ready) return;
  filling_ = true;
  auto body = [](std::shared_ptr<ReadyPool> self) -> io::Task<void> {
    const std::shared_ptr<void> guard(nullptr, [self](void*) { self->filling_ = false; });
    co_return co_await self->fill();
  };
  io::spawn(executor_, body(shared_from_this()), "refill ready children", cancel_);
}

// One at a time: forks of one zygote happen one after the other anyway.
io::Task<void> ReadyPool::fill() {
  drop_dead();
  while (children_.size() < target_) {
    // A zygote that dies meanwhile comes back with a change, which calls us again.
    Result<RunChild> child = co_await zygote_->fork();
    if (!child) co_return Result<void>{};
    if (children_.size() < target_) children_.push_back(std::move(*child));
  }
  co_return Result<void>{};
}

io::Task<RunChild> ReadyPool::take() {
  const std::shared_ptr<ReadyPool> self = shared_from_this();
  while (!children_.empty()) {
    RunChild child = std::move(children_.front());
    children_.pop_front();
    if (!child.alive()) continue;
    plan_chores();
    co_return child;
  }
  Result<RunChild> child = co_await zygote_->fork();
  plan_chores();
  co_return child;
}

}  // namespace relay::executors
