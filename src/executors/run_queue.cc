#include "executors/run_queue.h"

#include <algorithm>

#include <fmt/format.h>

namespace relay::executors {

std::shared_ptr<RunQueue> RunQueue::make(const io::Loop& executor, const Bounds& bounds) {
  return std::shared_ptr<RunQueue>(new RunQueue(executor, bounds));
}

io::Task<RunQueue::Ticket> RunQueue::enter() {
  const std::shared_ptr<RunQueue> self = shared_from_this();
  if (running_ < bounds_.running_max && line_.empty()) {
    ++running_;
    co_return Ticket(self);
  }
  if (line_.size() >= bounds_.waiting_max)
    co_return fail(
        busy(fmt::format("{} runs are waiting already; try again in a few seconds", line_.size())));
  const auto place = std::make_shared<Place>(executor_);
  line_.push_back(place);
  // However this coroutine ends without its ticket, its place or its turn goes to the next one.
  std::shared_ptr<void> guard(nullptr, [self, place](void*) { self->give_up(place); });
  RELAY_CO_TRY(const bool came,
               co_await place->turn.wait_until(std::chrono::steady_clock::now() + bounds_.wait_max));
  if (!came) co_return fail(timed_out("the run waited too long for its turn and was taken out of the queue"));
  Ticket ticket(self);
  place->turn.clear();
  co_return ticket;
}

// Whoever is first in line takes over the place that becomes free; running_ stays as it is.
void RunQueue::leave() {
  if (line_.empty()) {
    --running_;
    return;
  }
  const std::shared_ptr<Place> next = std::move(line_.front());
  line_.pop_front();
  next->turn.set();
}

void RunQueue::give_up(const std::shared_ptr<Place>& place) {
  const auto entry = std::ranges::find(line_, place);
  if (entry != line_.end()) {
    line_.erase(entry);
  } else if (place->turn.is_set()) {
    leave();  // the turn had come, nobody took it
  }
}

}  // namespace relay::executors
