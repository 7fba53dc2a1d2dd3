// RunQueue: who may run now.
//
// A run computes or waits (for a timer, a reply, a person). So many may compute at once; all that are alive,
// waiting ones included, have a bound of their own, because each holds a process. enter() gives a Ticket when
// it is one's turn; dropping the ticket frees its place. A run that goes on after a wait does so at once, so
// for a moment more than `computing_max` may compute; nobody new starts until fewer do.
//
// Clients share: the next to start is of the client with the fewest runs alive, and among those the one that
// came first. A full line is an error that says when to try again, and nobody waits longer than kQueueWait.
// Loop thread only.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <string>

#include "base/limits.h"
#include "io/event.h"
#include "io/task.h"

namespace relay::executors {

/// What a run does with the processor.
enum class RunPace : std::uint8_t { computes, waits };

class RunQueue : public std::enable_shared_from_this<RunQueue> {
 public:
  struct Bounds {
    std::size_t computing_max = 2;
    std::size_t alive_max = limits::kRunsAlive;
    std::size_t alive_per_owner_max = limits::kRunsAlivePerClient;
    std::size_t waiting_max = limits::kQueueDepth;
    std::chrono::steady_clock::duration wait_max = limits::kQueueWait;
  };

  /// The right to run. Movable; gives the place back when it goes.
  class Ticket {
   public:
    Ticket(std::shared_ptr<RunQueue> queue, std::string owner)
        : queue_(std::move(queue)), owner_(std::move(owner)) {}
    Ticket(Ticket&&) noexcept = default;
    Ticket& operator=(Ticket&&) = delete;
    ~Ticket() {
      if (queue_) queue_->leave(owner_, pace_);
    }
    /// A run that waits frees its share of the processor and keeps its place among the living.
    void set_pace(RunPace pace) {
      if (pace == pace_) return;
      pace_ = pace;
      queue_->change_pace(pace);
    }

   private:
    std::shared_ptr<RunQueue> queue_;
    std::string owner_;
    RunPace pace_ = RunPace::computes;
  };

  static std::shared_ptr<RunQueue> make(const io::Loop& executor, const Bounds& bounds);

  /// `owner` is the client that shares are counted for.
  io::Task<Ticket> enter(std::string owner);
  /// Whether a run of this owner would start at once.
  [[nodiscard]] bool has_room(const std::string& owner) const;
  [[nodiscard]] std::size_t running() const { return alive_; }
  [[nodiscard]] std::size_t computing() const { return computing_; }
  [[nodiscard]] std::size_t waiting() const { return line_.size(); }

 private:
  struct Place {
    Place(const io::Loop& executor, std::string of) : owner(std::move(of)), turn(executor) {}
    std::string owner;
    io::Event turn;
  };
  using Line = std::deque<std::shared_ptr<Place>>;

  RunQueue(const io::Loop& executor, const Bounds& bounds) : executor_(executor), bounds_(bounds) {}
  [[nodiscard]] std::size_t alive_of(const std::string& owner) const;
  [[nodiscard]] bool may_start(const std::string& owner) const;
  [[nodiscard]] Line::iterator find_next();
  void count(const std::string& owner);
  void start_next();
  void leave(const std::string& owner, RunPace pace);
  void change_pace(RunPace pace);
  void give_up(const std::shared_ptr<Place>& place);

  io::Loop executor_;
  Bounds bounds_;
  std::size_t alive_ = 0;
  std::size_t computing_ = 0;
  std::map<std::string, std::size_t> alive_by_owner_;
  Line line_;
};

}  // namespace relay::executors
