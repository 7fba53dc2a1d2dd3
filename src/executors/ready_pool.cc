#include "executors/ready_pool.h"

#include <algorithm>

namespace relay::executors {

std::shared_ptr<ReadyPool> ReadyPool::make(const io::Executor& executor, std::shared_ptr<Zygote> zygote, std::size_t target) {
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
  return static_cast<std::size_t>(std::ranges::count_if(children_, [](const RunChild& child) { return child.alive(); }));
}

void ReadyPool::close() {
  target_ = 0;
  cancel_.cancel();
  children_.clear();
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
    refill();
    co_return child;
  }
  Result<RunChild> child = co_await zygote_->fork();
  refill();
  co_return child;
}

}  // namespace relay::executors
