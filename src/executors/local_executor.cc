#include "executors/local_executor.h"

#include <fmt/format.h>

namespace relay::executors {
namespace {

using std::chrono::steady_clock;

// Kills the child when the run is left in any way that does not keep it.
class ChildGuard {
 public:
  explicit ChildGuard(std::shared_ptr<RunChild> child) : child_(std::move(child)) {}
  ChildGuard(const ChildGuard&) = delete;
  ChildGuard& operator=(const ChildGuard&) = delete;
  ~ChildGuard() {
    if (child_) child_->kill();
  }
  void keep() { child_.reset(); }

 private:
  std::shared_ptr<RunChild> child_;
};

// Returns the session to its table even if the run is unwound.
class SessionGuard {
 public:
  SessionGuard(SessionTable& table, SessionKey key, Runtime runtime)
      : table_(table), key_(std::move(key)), runtime_(runtime) {}
  SessionGuard(const SessionGuard&) = delete;
  SessionGuard& operator=(const SessionGuard&) = delete;
  ~SessionGuard() { table_.give_back(key_, runtime_, std::move(child), std::move(lost_because)); }

  std::shared_ptr<RunChild> child;
  std::string lost_because = "its last run was cancelled";

 private:
  SessionTable& table_;
  SessionKey key_;
  Runtime runtime_;
};

std::string loss(const RunOutcome& outcome) {
  return outcome.error ? "its last run was ended: " + outcome.error->message
                       : "its process ended with its last run";
}

// The zygote's own two, every child that may be alive at once, and as many again that have ended and are not
// yet reaped.
std::size_t processes_max(const LocalConfig& config) {
  return 2 + 2 * (config.ready_children + config.queue.alive_max + config.sessions.total + 1);
}

std::string_view title(Runtime runtime) {
  return language_of(runtime) == Language::js ? "JavaScript" : "Python";
}

// What relay-zygote is told to boot.
std::string_view zygote_kind(Runtime runtime) {
  switch (runtime) {
    case Runtime::quickjs: return "js";
    case Runtime::pyodide: return "py";
    case Runtime::cpython: return "cpython";
  }
  return "";
}

// Whose child may evaluate which packages ahead of a run. Nothing when the run brings arguments or an
// environment, which packages may look at while they are loaded. A prepared child has seen the program that
// it was prepared for, so it never serves others.
std::string preparable_deps(const OwnedRun& run) {
  const capsule::Manifest& manifest = run.request.capsule.manifest;
  const capsule::EntryPoint& entry = manifest.entry;
  if (run.runtime() != Runtime::quickjs || run.in_session() || manifest.layers.size() != 2 ||
      !entry.env.empty() || !entry.argv.empty())
    return {};
  return manifest.layers.back().sha256 + ' ' + run.owner;
}

// A guest that only loads packages has nothing to ask for.
class NothingToAsk final : public HostCalls {
 public:
  Task<HostReply> call(HostCall, HostStream&) override {
    asked_ = true;
    co_return fail(unavailable("nothing can be asked for while packages are loaded"));
  }
  [[nodiscard]] bool asked() const { return asked_; }

 private:
  bool asked_ = false;
};

constexpr auto kPreparingPause = std::chrono::milliseconds(5);  // the answer leaves first

}  // namespace

LocalExecutor::LocalExecutor(io::Loop executor, const Clock& clock, LocalConfig config)
    : executor_(executor),
      config_(std::move(config)),
      queue_(RunQueue::make(executor, config_.queue)),
      sessions_(clock, config_.sessions),
      prepared_(clock),
      sweep_(executor) {}

LocalExecutor::~LocalExecutor() {
  stop();
}

void LocalExecutor::stop() {
  sessions_.clear();
  preparing_.cancel();
  sweep_.cancel();
  prepared_.clear();
  for (auto& [runtime, booted] : booted_) {
    booted.pool->close();
    booted.zygote->stop();
  }
}

LocalExecutor::Booted& LocalExecutor::boot(Runtime runtime) {
  Booted& booted = booted_[runtime];
  if (booted.zygote) return booted;
  const ZygoteSpec spec{.program = config_.zygote_program,
                        .kind = std::string(zygote_kind(runtime)),
                        .runtime_dir = config_.runtime_dir,
                        .level = config_.walls,
                        .site = config_.groups,
                        .group_memory_bytes = config_.group_memory_bytes,
                        .group_processes_max = processes_max(config_)};
  booted.zygote = Zygote::start(executor_, spec);
  booted.pool = ReadyPool::make(executor_, booted.zygote, config_.ready_children);
  return booted;
}

bool LocalExecutor::can_run(Runtime runtime) const {
  return runtime != Runtime::cpython;
}

void LocalExecutor::start(Runtime runtime) {
  boot(runtime);
}

Task<std::shared_ptr<RunChild>> LocalExecutor::take_child(Runtime runtime, RunObserver& observer) {
  const Booted& used = boot(runtime);
  const std::shared_ptr<ReadyPool> pool = used.pool;
  if (used.zygote->status().phase != ZygotePhase::ready)
    observer.on_progress(fmt::format("starting the {} runtime", title(runtime)));
  RELAY_CO_TRY(RunChild child, co_await pool->take());
  co_return std::make_shared<RunChild>(std::move(child));
}

// One run on this child, or on a ready one. A child that died with its zygote before it said anything has
// done nothing that anybody could see, so the run begins again on a child of the next zygote, once; unless
// the child held a session's variables.
Task<LocalExecutor::Served> LocalExecutor::serve(std::shared_ptr<RunChild> child, OwnedRun& run,
                                                 Around& around) {
  bool may_repeat = !child || !run.in_session();
  for (;; may_repeat = false) {
    if (!child) {
      RELAY_CO_TRY(child, co_await take_child(run.runtime(), around.observer));
    }
    ChildGuard guard(child);
    RunChannel channel(executor_, child, around.calls, around.observer);
    const auto on_pace = [&around](RunPace pace) { around.ticket.set_pace(pace); };
    RELAY_CO_TRY(ChannelResult result, co_await channel.run(run, around.stop, on_pace));
    if (result.fate == ChildFate::waits) guard.keep();
    if (result.fate != ChildFate::unused || !may_repeat)
      co_return Served{std::move(child), std::move(result)};
    child.reset();
    run.deps_held = false;
  }
}

Task<RunOutcome> LocalExecutor::run_fresh(OwnedRun& run, Around& around) {
  const std::string deps = preparable_deps(run);
  std::shared_ptr<RunChild> prepared = deps.empty() ? nullptr : prepared_.take(deps);
  run.deps_held = prepared != nullptr;
  RELAY_CO_TRY(Served served, co_await serve(std::move(prepared), run, around));
  if (served.result.fate == ChildFate::waits) {
    boot(run.runtime()).pool->discard(std::move(served.child));
    if (!deps.empty() && queue_->waiting() == 0) prepare_successor(run);
  }
  co_return std::move(served.result.outcome);
}

void LocalExecutor::prepare_successor(const OwnedRun& run) {
  const std::string key = preparable_deps(run);
  if (!prepared_.begin(key)) return;
  OwnedRun practice{.request = {}, .run_id = run.run_id, .owner = run.owner};
  practice.request.runtime = run.runtime();
  practice.request.capsule = run.request.capsule;
  practice.request.key = run.request.key;
  practice.request.limits = run.request.limits;
  practice.request.extra["prepare"] = true;
  io::spawn(executor_, prepare(std::move(practice), key), "prepare a child", preparing_);
}

Task<void> LocalExecutor::prepare(OwnedRun run, std::string key) {
  RELAY_CO_CHECK(co_await io::sleep_for(kPreparingPause));
  RunObserver nobody;
  const auto calls = std::make_shared<NothingToAsk>();
  auto child = co_await take_child(run.runtime(), nobody);
  if (!child) {
    prepared_.give_up(key);
    co_return Result<void>{};
  }
  ChildGuard guard(*child);
  RunChannel channel(executor_, *child, calls, nobody);
  const auto result = co_await channel.run(run, {});
  const bool is_silent = result && result->outcome.stdout_bytes.empty() &&
                         result->outcome.stderr_bytes.empty() && !calls->asked();
  if (!is_silent || result->fate != ChildFate::waits || result->outcome.exit_code != 0) {
    prepared_.spoil(key);
    co_return Result<void>{};
  }
  guard.keep();
  prepared_.keep(key, *child);
  sweep_prepared();
  co_return Result<void>{};
}

// A child that nobody comes for costs memory.
void LocalExecutor::sweep_prepared() {
  if (std::exchange(sweeping_, true)) return;
  sweep_.expires_after(PreparedChildren::kUnused);
  sweep_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    sweeping_ = false;
    prepared_.sweep();
    if (prepared_.size() > 0) sweep_prepared();
  });
}

Task<RunOutcome> LocalExecutor::run_in_session(OwnedRun& run, Around& around) {
  RELAY_CO_TRY(SessionTable::Lease lease,
               sessions_.take(run.session, run.runtime(), run.request.session_start));
  SessionGuard session(sessions_, run.session, run.runtime());
  // A child that spoke out of turn since its last run is not trusted with the next one.
  if (lease.child && !lease.child->quiet()) lease.child.reset();
  Result<Served> served = co_await serve(std::move(lease.child), run, around);
  session.lost_because.clear();
  if (!served) co_return fail(std::move(served.error()));
  RunOutcome& outcome = served->result.outcome;
  outcome.session_note = std::move(lease.note);
  if (served->result.fate == ChildFate::waits)
    session.child = std::move(served->child);
  else
    session.lost_because = loss(outcome);
  co_return std::move(outcome);
}

Task<RunOutcome> LocalExecutor::perform(OwnedRun run, std::shared_ptr<HostCalls> calls, RunObserver& observer,
                                        RunStop stop) {
  const steady_clock::time_point asked = steady_clock::now();
  if (!queue_->has_room(run.owner)) observer.on_progress("waiting for a free place to run");
  RELAY_CO_TRY(RunQueue::Ticket ticket, co_await queue_->enter(run.owner));
  const double queued_ms = std::chrono::duration<double, std::milli>(steady_clock::now() - asked).count();
  Around around{std::move(calls), observer, std::move(stop), std::move(ticket)};
  Result<RunOutcome> outcome =
      run.in_session() ? co_await run_in_session(run, around) : co_await run_fresh(run, around);
  ++runs_;
  if (outcome) outcome->usage.queued_ms = queued_ms;
  co_return outcome;
}

LocalStatus LocalExecutor::status() const {
  LocalStatus status;
  for (const auto& [runtime, booted] : booted_) {
    status.runtimes.push_back({runtime, booted.zygote->status(), booted.pool->ready()});
    status.leaked_children += booted.zygote->leaked_children();
  }
  status.running = queue_->running();
  status.waiting = queue_->waiting();
  status.sessions = sessions_.size();
  status.runs = runs_;
  return status;
}

}  // namespace relay::executors
