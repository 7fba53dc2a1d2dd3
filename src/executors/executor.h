// Executor: a place where code runs. The zygotes of this machine are one (LocalExecutor).
//
// run() is the only way in, and the same for all: it takes the record of the call, refuses what is not the
// code or the input that was judged, and names the run after the call. A place implements perform() and is
// added to the table of executors (executor_table.h) where the world is built.
//
// The owner of the world owns the executors; they outlive every run. Loop thread only.
#pragma once

#include <memory>
#include <string_view>

#include "authority/recorded.h"
#include "executors/run.h"

namespace relay::executors {

class Executor {
 public:
  virtual ~Executor() = default;
  /// "local": as a call's `executor` and its result spell it.
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// Whether a run of this runtime could go there now.
  [[nodiscard]] virtual bool can_run(Runtime runtime) const = 0;
  /// One run, from the queue to the outcome. The record is the permission: it stays open for as long as the
  /// run goes on, it says whose run it is, and the code that runs must be the code of its arguments. Whatever
  /// the guest does is an outcome; an Error means that it could not be run: busy, or a runtime that does not
  /// start. Cancelling the coroutine ends the run; `stop` does so too, and still gives an outcome with the
  /// output so far.
  Task<RunOutcome> run(const authority::Recorded& recorded, RunRequest request,
                       std::shared_ptr<HostCalls> calls, RunObserver& observer, RunStop stop = {});
  /// Whether a run of that session would find its variables.
  [[nodiscard]] virtual bool has_session(const SessionKey& key, Runtime runtime) const = 0;
  /// Ends the named sessions of an owner who is gone.
  virtual void drop_sessions(std::string_view owner) = 0;
  /// Ends every run and frees what they used. The executor runs nothing afterwards.
  virtual void stop() = 0;

 protected:
  virtual Task<RunOutcome> perform(OwnedRun run, std::shared_ptr<HostCalls> calls, RunObserver& observer,
                                   RunStop stop) = 0;
};

}  // namespace relay::executors
