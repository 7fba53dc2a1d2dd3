#include "executors/run_queue.h"

#include <algorithm>

#include <fmt/format.h>

namespace relay::executors {

std::shared_ptr<RunQueue> RunQueue::make(const io::Loop& executor, const Bounds& bounds) {
  return std::shared_ptr<RunQueue>(new RunQueue(executor, bounds));
}

io::Task<RunQueue::Ticket> RunQueue::enter(std::string owner) {
  const std::shared_ptr<RunQueue> self = shared_from_this();
  if (has_room(owner)) {
    count(owner);
    co_return Ticket(self, std::move(owner));
  }
  if (line_.size() >= bounds_.waiting_max)
    co_return fail(
        busy(fmt::format("{} runs are waiting already; try again in a few seconds", line_.size())));
  const auto place = std::make_shared<Place>(executor_, std::move(owner));
  line_.push_back(place);
  // However this coroutine ends without its ticket, its place or its turn goes to the next one.
  std::shared_ptr<void> guard(nullptr, [self, place](void*) { self->give_up(place); });
  RELAY_CO_TRY(const bool came,
               co_await place->turn.wait_until(std::chrono::steady_clock::now() + bounds_.wait_max));
  if (!came) co_return fail(timed_out("the run waited too long for its turn and was taken out of the queue"));
  Ticket ticket(self, place->owner);
  place->turn.clear();
  co_return ticket;
}

std::size_t RunQueue::alive_of(const std::string& owner) const {
  const auto entry = alive_by_owner_.find(owner);
  return entry == alive_by_owner_.end() ? 0 : entry->second;
}

bool RunQueue::may_start(const std::string& owner) const {
  return computing_ < bounds_.computing_max && alive_ < bounds_.alive_max &&
         alive_of(owner) < bounds_.alive_per_owner_max;
}

// Those in line go first, unless none of them may start: then each has reached its client's bound.
bool RunQueue::has_room(const std::string& owner) const {
  return may_start(owner) &&
         std::ranges::none_of(line_, [this](const auto& place) { return may_start(place->owner); });
}

RunQueue::Line::iterator RunQueue::find_next() {
  auto next = line_.end();
  for (auto place = line_.begin(); place != line_.end(); ++place) {
    if (!may_start((*place)->owner)) continue;
    if (next == line_.end() || alive_of((*place)->owner) < alive_of((*next)->owner)) next = place;
  }
  return next;
}

void RunQueue::count(const std::string& owner) {
  ++alive_;
  ++computing_;
  ++alive_by_owner_[owner];
}

// The freed place is counted for the next one before it wakes, so a new caller cannot overtake it.
void RunQueue::start_next() {
  for (auto next = find_next(); next != line_.end(); next = find_next()) {
    const std::shared_ptr<Place> place = *next;
    line_.erase(next);
    count(place->owner);
    place->turn.set();
  }
}

void RunQueue::leave(const std::string& owner, RunPace pace) {
  --alive_;
  if (pace == RunPace::computes) --computing_;
  const auto entry = alive_by_owner_.find(owner);
  if (--entry->second == 0) alive_by_owner_.erase(entry);
  start_next();
}

void RunQueue::change_pace(RunPace pace) {
  if (pace == RunPace::computes) {
    ++computing_;
    return;
  }
  --computing_;
  start_next();
}

void RunQueue::give_up(const std::shared_ptr<Place>& place) {
  const auto entry = std::ranges::find(line_, place);
  if (entry != line_.end()) {
    line_.erase(entry);
  } else if (place->turn.is_set()) {
    leave(place->owner, RunPace::computes);  // the turn had come, nobody took it
  }
}

}  // namespace relay::executors
