#include "executors/run_channel.h"

#include <signal.h>

#include <fmt/format.h>
#include <boost/asio/steady_timer.hpp>

#include "base/bytes.h"
#include "executors/done_frame.h"
#include "executors/host_call_table.h"

namespace relay::executors {

using sandbox::FrameKind;
using sandbox::FrameView;
using std::chrono::steady_clock;

namespace {

double ms_since(steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(steady_clock::now() - begin).count();
}

/// Why relay itself ended the run, when it did.
enum class Verdict : std::uint8_t { none, timeout, output, stopped, violation };

}  // namespace

struct RunChannel::State : std::enable_shared_from_this<RunChannel::State> {
  State(const io::Loop& executor, std::shared_ptr<RunChild> run_child, std::shared_ptr<HostCalls> host,
        RunObserver& run_observer)
      : child(run_child),
        calls(std::make_shared<HostCallTable>(executor, run_child, std::move(host))),
        observer(run_observer),
        deadline(executor) {}

  void end(Verdict why, std::string detail = {});
  void start(const OwnedRun& run);
  Task<void> pump();
  Result<void> take(const FrameView& frame);
  Result<void> take_output(const FrameView& frame);
  Result<void> take_call(const FrameView& frame);
  Result<void> take_cancel(const FrameView& frame);
  Result<void> take_done(const FrameView& frame);
  Result<void> take_pace(const FrameView& frame) const;
  Task<void> explain_end();

  std::shared_ptr<RunChild> child;
  std::shared_ptr<HostCallTable> calls;
  RunObserver& observer;
  std::function<void(RunPace)> on_pace;
  io::asio::steady_timer deadline;
  RunLimits limits;
  RunOutcome outcome;
  Verdict verdict = Verdict::none;
  std::string detail;
  bool done = false;
  bool silent = true;  // the child has said nothing yet, so nobody outside has seen anything of the run
  bool zygote_died = false;
};

RunChannel::RunChannel(io::Loop executor, std::shared_ptr<RunChild> child, std::shared_ptr<HostCalls> calls,
                       RunObserver& observer)
    : state_(std::make_shared<State>(executor, std::move(child), std::move(calls), observer)) {}

RunChannel::~RunChannel() {
  state_->deadline.cancel();
  state_->calls->close();
}

// The first reason counts. Killing is all that is needed: the socket ends, and with it the loop that reads
// it.
void RunChannel::State::end(Verdict why, std::string more) {
  if (done || verdict != Verdict::none) return;
  verdict = why;
  detail = std::move(more);
  child->kill();
  calls->close();
}

void RunChannel::State::start(const OwnedRun& run) {
  const RunRequest& request = run.request;
  FrameBody body(request.capsule.layers.begin(), request.capsule.layers.end());
  json::array layers = capsule::wire_layers(request.capsule.manifest);
  if (run.deps_held && body.size() == 2) {
    body.pop_back();
    layers.back().as_object()["bytes"] = 0;
    layers.back().as_object()["held"] = true;
  }
  if (!request.stdin_bytes.empty()) body.push_back(std::make_shared<const std::string>(request.stdin_bytes));
  json::object header = request.extra;
  header["run"] = run.run_id;
  header["manifest"] = request.capsule.text;
  header["sig"] = request.capsule.jws;
  header["key"] = request.key;
  header["layers"] = std::move(layers);
  header["stdinBytes"] = request.stdin_bytes.size();
  header["stdinLive"] = request.stdin_live;
  header["servers"] = request.servers;
  header["limits"] = {{"memMb", request.limits.mem_mb}, {"cpuMs", request.limits.timeout.count()}};
  if (run.in_session()) header["session"] = request.session;
  child->post(FrameKind::start, json::write(header), std::move(body));
}

Result<void> RunChannel::State::take_output(const FrameView& frame) {
  RELAY_TRY(const json::object header, json::parse_object(frame.header));
  const std::optional<std::string_view> stream = json::find_string(header, "stream");
  const bool is_stdout = stream == "stdout";
  if (!is_stdout && stream != "stderr") return fail(invalid("output for a stream that does not exist"));
  std::string& kept = is_stdout ? outcome.stdout_bytes : outcome.stderr_bytes;
  const std::string_view fits = frame.body.substr(0, limits.stdout_bytes - kept.size());
  kept.append(fits);
  is_stdout ? observer.on_stdout(fits) : observer.on_stderr(fits);
  if (fits.size() == frame.body.size()) return {};
  (is_stdout ? outcome.stdout_truncated : outcome.stderr_truncated) = true;
  end(Verdict::output, fmt::format("{} went over the limit of {} bytes; the run was ended there", *stream,
                                   limits.stdout_bytes));
  return {};
}

Result<void> RunChannel::State::take_call(const FrameView& frame) {
  RELAY_TRY(json::object header, json::parse_object(frame.header));
  const std::optional<std::int64_t> id = json::find_int(header, "id");
  const std::optional<std::string_view> op = json::find_string(header, "op");
  if (!id || !op) return fail(invalid("a call without number or operation"));
  HostCall call{.op = std::string(*op), .args = {}, .body = std::string(frame.body)};
  if (call.op == "mcp.call") call.args_text = json::find_text(frame.header, "args").value_or("{}");
  if (json::value* args = header.if_contains("args"); args && args->is_object())
    call.args = std::move(args->get_object());
  return calls->begin(*id, std::move(call));
}

Result<void> RunChannel::State::take_cancel(const FrameView& frame) {
  RELAY_TRY(const json::object header, json::parse_object(frame.header));
  if (const auto id = json::find_int(header, "id")) calls->cancel(*id);
  return {};
}

Result<void> RunChannel::State::take_done(const FrameView& frame) {
  RELAY_CHECK(apply_done_header(frame.header, outcome));
  done = true;
  return {};
}

Result<void> RunChannel::State::take_pace(const FrameView& frame) const {
  RELAY_TRY(const json::object header, json::parse_object(frame.header));
  const json::value* waits = header.if_contains("waits");
  if (!waits || !waits->is_bool()) return fail(invalid("a change of pace without 'waits'"));
  if (on_pace) on_pace(waits->get_bool() ? RunPace::waits : RunPace::computes);
  return {};
}

Result<void> RunChannel::State::take(const FrameView& frame) {
  switch (frame.kind) {
    case FrameKind::output: return take_output(frame);
    case FrameKind::call: return take_call(frame);
    case FrameKind::cancel: return take_cancel(frame);
    case FrameKind::done: return take_done(frame);
    case FrameKind::pace: return take_pace(frame);
    case FrameKind::ready:
    case FrameKind::start:
    case FrameKind::reply:
    case FrameKind::event:
    case FrameKind::interrupt: return fail(invalid("a frame that may not come during a run"));
  }
  return fail(invalid("a frame of unknown kind"));
}

Task<void> RunChannel::State::pump() {
  const std::shared_ptr<State> self = shared_from_this();
  while (!done && verdict == Verdict::none) {
    if (!calls->has_room()) {
      RELAY_CO_CHECK(co_await calls->wait_for_room());
      continue;
    }
    Result<std::optional<FrameView>> frame = co_await child->receive();
    if (frame && !*frame) break;
    silent = false;
    Result<void> taken = frame ? take(**frame) : Result<void>(fail(std::move(frame.error())));
    if (!taken) end(Verdict::violation, std::move(taken.error().message));
  }
  co_return Result<void>{};
}

// The child is gone without a word, or relay ended it: say why in words that help whoever wrote the code.
Task<void> RunChannel::State::explain_end() {
  const std::shared_ptr<State> self = shared_from_this();
  child->kill();
  Result<ChildExit> exit = co_await child->wait(relay::limits::kExitReport);
  const ChildExit known =
      exit ? *exit : ChildExit{.code = {}, .signal = SIGKILL, .cpu_ms = 0, .zygote_died = false};
  outcome.usage.cpu_ms = known.cpu_ms;
  zygote_died = known.zygote_died;
  const auto set = [this](int code, std::string type, std::string message) {
    outcome.exit_code = code;
    outcome.error = RunFailure{std::move(type), std::move(message), {}};
  };
  switch (verdict) {
    case Verdict::timeout:
      set(kExitTimeout, "Timeout",
          fmt::format("the run took longer than {} ms and was ended", limits.timeout.count()));
      co_return Result<void>{};
    case Verdict::output: set(1, "OutputLimitExceeded", detail); co_return Result<void>{};
    case Verdict::stopped: set(kExitMemory, "Cancelled", "the run was cancelled"); co_return Result<void>{};
    case Verdict::violation:
      set(kExitPolicy, "SandboxViolation",
          "the run was ended because it broke the protocol with relay: " + detail);
      co_return Result<void>{};
    case Verdict::none: break;
  }
  if (known.zygote_died)
    set(1, "Internal", "the runtime's process ended during the run; the next run gets a new one");
  else if (known.signal == SIGXCPU)
    set(kExitTimeout, "Timeout", "the run used up its CPU time");
  else if (known.signal == SIGSYS)
    set(kExitPolicy, "PolicyDenied", "the sandbox ended the run at a forbidden system call");
  else if (known.code == kExitMemory || known.signal == SIGTRAP)  // SIGTRAP: V8 gave up an allocation
    set(kExitMemory, "MemoryLimitExceeded", fmt::format("the run needed more than {} MB", limits.mem_mb));
  else if (known.signal ==
           SIGKILL)  // nobody here did that: the kernel, out of memory in the control group or on the machine
    set(kExitMemory, "MemoryLimitExceeded",
        fmt::format("the run needed more than {} MB, or all runs together more than there is for them",
                    limits.mem_mb));
  else
    set(1, "Internal", fmt::format("the run's process {}", describe(known)));
  co_return Result<void>{};
}

Task<ChannelResult> RunChannel::run(const OwnedRun& run, RunStop stop, std::function<void(RunPace)> on_pace) {
  const std::shared_ptr<State> state = state_;
  state->on_pace = std::move(on_pace);
  const steady_clock::time_point begin = steady_clock::now();
  state->limits = run.request.limits;
  state->deadline.expires_after(run.request.limits.timeout);
  state->deadline.async_wait([weak = std::weak_ptr(state)](const boost::system::error_code& error) {
    if (const auto alive = weak.lock(); alive && !error) alive->end(Verdict::timeout);
  });
  stop.on_request([weak = std::weak_ptr(state)] {
    if (const auto alive = weak.lock()) alive->end(Verdict::stopped);
  });
  if (stop.requested()) state->end(Verdict::stopped);
  state->start(run);
  RELAY_CO_CHECK(co_await state->pump());
  state->deadline.cancel();
  stop.on_request({});
  state->on_pace = {};
  state->calls->close();
  if (!state->done) RELAY_CO_CHECK(co_await state->explain_end());
  state->outcome.usage.wall_ms = ms_since(begin);
  const bool unused = state->silent && state->zygote_died && state->verdict == Verdict::none;
  const bool waits = state->done && state->child->alive();
  co_return ChannelResult{std::move(state->outcome), unused  ? ChildFate::unused
                                                     : waits ? ChildFate::waits
                                                             : ChildFate::ended};
}

}  // namespace relay::executors
