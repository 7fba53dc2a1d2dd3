#include "upstream/call_slots.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace relay::upstream {

CallSlots::CallSlots(io::Loop executor, const Clock& clock, Bounds bounds)
    : executor_(std::move(executor)),
      clock_(clock),
      bounds_(std::move(bounds)),
      tokens_(static_cast<double>(bounds_.per_minute)),
      refilled_(clock.mono()) {}

// A token bucket: a minute's worth may go at once, then one per interval.
Result<void> CallSlots::spend_token() {
  if (bounds_.per_minute == 0) return {};
  const auto full = static_cast<double>(bounds_.per_minute);
  const double per_second = full / 60;
  const MonoTime now = clock_.mono();
  tokens_ = std::min(full, tokens_ + std::chrono::duration<double>(now - refilled_).count() * per_second);
  refilled_ = now;
  constexpr double kRounding = 1e-9;
  if (tokens_ >= 1 - kRounding) {
    tokens_ -= 1;
    return {};
  }
  const auto seconds = static_cast<long>(std::ceil((1 - tokens_) / per_second));
  return fail(busy(fmt::format("server {} may be called {} times per minute; try again in {} s",
                               bounds_.server, bounds_.per_minute, seconds)));
}

io::Task<CallSlots::Place> CallSlots::enter(std::chrono::milliseconds deadlines) {
  if (open_ >= bounds_.open_max && line_.size() >= bounds_.waiting_max)
    co_return fail(busy(fmt::format("server {} has {} calls open and {} waiting; try again in a moment",
                                    bounds_.server, open_, line_.size())));
  RELAY_CO_CHECK(spend_token());
  if (open_ < bounds_.open_max) {
    ++open_;
    co_return Place(shared_from_this());
  }
  RELAY_CO_CHECK(co_await wait_in_line(deadlines));
  co_return Place(shared_from_this());
}

io::Task<void> CallSlots::wait_in_line(std::chrono::milliseconds deadlines) {
  const auto self = shared_from_this();
  auto waiter = std::make_shared<Waiter>(executor_);
  line_.push_back(waiter);
  struct Guard {
    CallSlots& admission;
    std::shared_ptr<Waiter> waiter;
    bool has_place = false;
    ~Guard() {
      if (!has_place) admission.give_up(waiter);
    }
  } guard{*this, waiter};
  RELAY_CO_TRY(guard.has_place,
               co_await waiter->turn.wait_until(std::chrono::steady_clock::now() + deadlines));
  if (!guard.has_place)
    co_return fail(timed_out(fmt::format("server {} had no free place within {} ms; {} calls are open",
                                         bounds_.server, deadlines.count(), open_)));
  co_return Result<void>{};
}

// The freed slot is handed directly to the first waiter, so a new caller cannot overtake it.
void CallSlots::leave() {
  if (line_.empty()) {
    --open_;
    return;
  }
  line_.front()->turn.set();
  line_.pop_front();
}

// A cancelled waiter may already own a slot: it is returned then.
void CallSlots::give_up(const std::shared_ptr<Waiter>& waiter) {
  if (waiter->turn.is_set()) return leave();
  std::erase(line_, waiter);
}

}  // namespace relay::upstream
