// RunChannel: one run on one child, from the start frame to the outcome.
//
// The deadline is a timer that kills the child, whatever the guest and relay are doing; the run then ends
// like any run whose child has gone. Host calls run beside each other, each as its own task; what is in
// flight when the run ends is cancelled. Calls keep a share of the HostCalls, so nothing that is slow to
// unwind can hold up the outcome.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "executors/run.h"
#include "executors/run_child.h"
#include "executors/run_queue.h"

namespace relay::executors {

/// What is left of the child afterwards.
enum class ChildFate : std::uint8_t {
  waits,   // said `done` in good order and can serve the next run of its session
  ended,   // was killed, died, or must not be trusted any more
  unused,  // died with its zygote before it said anything: nothing of the run has happened
};

struct ChannelResult {
  RunOutcome outcome;
  ChildFate fate = ChildFate::ended;
};

class RunChannel {
 public:
  RunChannel(io::Loop executor, std::shared_ptr<RunChild> child, std::shared_ptr<HostCalls> calls,
             RunObserver& observer);
  ~RunChannel();

  /// The run's wall clock begins here. `on_pace` is told when the guest begins to wait for long, and when it
  /// goes on.
  Task<ChannelResult> run(const OwnedRun& run, RunStop stop, std::function<void(RunPace)> on_pace = {});

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace relay::executors
