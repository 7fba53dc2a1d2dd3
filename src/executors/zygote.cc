#include "executors/zygote.h"

#include <signal.h>
#include <sys/socket.h>

#include <algorithm>
#include <fstream>

#include <fmt/format.h>

#include "base/limits.h"
#include "executors/control_channel.h"
#include "io/child.h"

namespace relay::executors {

using std::chrono::steady_clock;

struct Zygote::Process {
  Process(const io::Loop& executor, io::Child process, Fd control_socket)
      : child(std::move(process)), control(executor, std::move(control_socket)), pulse(executor) {}

  io::Child child;
  ControlChannel control;
  std::string said;  // the end of what it wrote to stderr
  io::asio::steady_timer pulse;
  int pings_missed = 0;  // pauses since the ping that it has not answered
  steady_clock::time_point since = steady_clock::now();
};

// Somebody who waits for a child. Gone callers leave the entry behind: the child that still comes is killed.
struct Zygote::PendingFork {
  PendingFork(const io::Loop& executor, std::shared_ptr<RunChild::State> child_state)
      : state(std::move(child_state)), done(executor) {}

  std::shared_ptr<RunChild::State> state;
  io::Event done;
  std::string error;
  bool abandoned = false;
};

namespace {

// The zygote proper is the only child of the process that we started; its children are what we count.
std::vector<int> children_of(int pid) {
  std::ifstream file(fmt::format("/proc/{0}/task/{0}/children", pid));
  std::vector<int> children;
  for (int child = 0; file >> child;) children.push_back(child);
  return children;
}

ChildExit parse_exit(const json::object& content) {
  ChildExit exit;
  if (const auto code = json::find_int(content, "code")) exit.code = static_cast<int>(*code);
  if (const auto signal = json::find_int(content, "signal")) exit.signal = static_cast<int>(*signal);
  exit.cpu_ms = json::find_number(content, "cpuMs").value_or(0);
  return exit;
}

void append_tail(std::string& tail, std::string_view line) {
  tail.append(line).append("\n");
  if (tail.size() > limits::kStderrTailBytes) tail.erase(0, tail.size() - limits::kStderrTailBytes);
}

}  // namespace

std::string_view name_of(ZygotePhase phase) {
  switch (phase) {
    case ZygotePhase::booting: return "booting";
    case ZygotePhase::ready: return "ready";
    case ZygotePhase::waiting: return "waiting";
    case ZygotePhase::stopped: return "stopped";
  }
  return "unknown";
}

Zygote::Zygote(const io::Loop& executor, ZygoteSpec spec)
    : executor_(executor), spec_(std::move(spec)), ready_(executor), settled_(executor) {}

Zygote::~Zygote() = default;

std::shared_ptr<Zygote> Zygote::start(const io::Loop& executor, ZygoteSpec spec) {
  std::shared_ptr<Zygote> zygote(new Zygote(executor, std::move(spec)));
  auto body = [](std::shared_ptr<Zygote> self) -> io::Task<void> { co_return co_await self->supervise(); };
  io::spawn(executor, body(zygote), "zygote " + zygote->spec_.kind, zygote->cancel_);
  return zygote;
}

void Zygote::stop() {
  status_.phase = ZygotePhase::stopped;
  cancel_.cancel();
  on_death("relay is shutting down");
  group_.reset();
}

// The group stays for the next process when this one dies. Where none can be made, rlimits stand alone and
// the status says so, unless the configuration has named the place.
Result<void> Zygote::make_group() {
  if (group_) return {};
  Result<sandbox::ControlGroup> group =
      sandbox::ControlGroup::make(spec_.site, spec_.kind, {.processes = spec_.group_processes_max});
  if (!group && spec_.site.required) return fail(std::move(group.error()));
  status_.group = sandbox::name_of(group ? spec_.site.version : sandbox::GroupVersion::none);
  status_.group_reason = group ? "" : spec_.site.reason.empty() ? group.error().message : spec_.site.reason;
  if (!group) return {};
  status_.group_directories = group->directories();
  group_.emplace(std::move(*group));
  return {};
}

// Booting is ours and may take what it needs; the limit begins above that, like a child's own.
void Zygote::limit_group() {
  if (!group_) return;
  const Result<std::size_t> base = group_->memory_bytes_now();
  const Result<void> limited =
      base ? group_->limit_memory(*base + spec_.group_memory_bytes) : Result<void>(fail(base.error()));
  status_.group_memory_bytes = limited ? *base + spec_.group_memory_bytes : 0;
  status_.group_reason = limited ? "" : limited.error().message;
}

Result<std::shared_ptr<Zygote::Process>> Zygote::spawn_process() {
  RELAY_CHECK(make_group());
  RELAY_TRY(FdPair control, open_socket_pair(SOCK_SEQPACKET));
  io::ChildSpec spec;
  spec.program = spec_.program;
  spec.args = {spec_.kind, "--runtime-dir", spec_.runtime_dir,
               fmt::format("--walls={}", sandbox::name_of(spec_.level))};
  if (group_)
    for (const std::string& directory : group_->directories())
      spec.args.insert(spec.args.end(), {"--cgroup", directory});
  spec.environment = {{"LANG", "C.UTF-8"}, {"TZ", "UTC"}};
  spec.in = io::Stdio::null;
  spec.out = io::Stdio::null;
  spec.fds = {{3, control.second.get()}};
  RELAY_TRY(io::Child child, io::Child::spawn(executor_, spec));
  return std::make_shared<Process>(executor_, std::move(child), std::move(control.first));
}

namespace {

io::Task<void> read_stderr(io::Child& child, std::string& said) {
  io::LineReader reader(child.err());
  for (;;) {
    RELAY_CO_TRY(const std::optional<std::string> line, co_await reader.read_line());
    if (!line) co_return Result<void>{};
    append_tail(said, *line);
  }
}

io::Task<void> after(steady_clock::duration pause) {
  co_return co_await io::sleep_for(pause);
}

}  // namespace

// One process from its start to its end: control messages until it hangs up, then what it said on stderr.
io::Task<void> Zygote::live(Process& process) {
  for (;;) {
    RELAY_CO_TRY(std::optional<ControlMessage> message, co_await process.control.receive());
    if (!message) break;
    handle(std::move(*message));
  }
  ready_.clear();  // whoever comes now waits for the next one
  process.control.close();
  (void)co_await io::with_timeout(read_stderr(process.child, process.said), std::chrono::seconds(1),
                                  "stderr of a zygote");
  RELAY_CO_TRY(const io::ExitStatus status, co_await process.child.stop(std::chrono::milliseconds(0)));
  co_return fail(
      unavailable(fmt::format("the {} runtime {}: {}", spec_.kind, io::describe(status), process.said)));
}

io::Task<void> Zygote::supervise() {
  steady_clock::duration pause = limits::kZygotePauseMin;
  for (;;) {
    status_.phase = ZygotePhase::booting;
    ++status_.starts;
    const steady_clock::time_point began = steady_clock::now();
    Result<std::shared_ptr<Process>> process = spawn_process();
    Result<void> ended = process ? Result<void>{} : Result<void>(fail(process.error()));
    if (process) {
      process_ = *process;
      ended = co_await live(**process);
    }
    on_death(ended ? "" : ended.error().message);
    if (steady_clock::now() - began > limits::kZygoteHealthy) pause = limits::kZygotePauseMin;
    RELAY_CO_CHECK(co_await after(pause));
    pause = std::min<steady_clock::duration>(2 * pause, limits::kZygotePauseMax);
  }
}

void Zygote::on_death(std::string reason) {
  // One that had booted and died is no reason to believe that the next does not boot: who waits goes on
  // waiting.
  if (status_.phase != ZygotePhase::ready) settled_.set();
  if (status_.phase != ZygotePhase::stopped) status_.phase = ZygotePhase::waiting;
  status_.last_error = std::move(reason);
  ready_.clear();
  // After stop() the coroutine that reads the socket still has to unwind, and keeps its share until then; the
  // processes end now.
  if (process_) process_->child.signal_group(SIGKILL);
  process_.reset();
  for (const auto& [id, pending] : std::exchange(pending_, {})) {
    pending->error = "the runtime's process ended: " + status_.last_error;
    pending->done.set();
  }
  for (const auto& [id, child] : std::exchange(children_, {})) {
    child->exit = ChildExit{.code = {}, .signal = {}, .cpu_ms = 0, .zygote_died = true};
    child->exited.set();
  }
  status_.children = 0;
}

void Zygote::handle(ControlMessage message) {
  if (!process_) return;  // stopped meanwhile
  const std::string_view op = json::find_string(message.content, "op").value_or("");
  if (op == "ready") return on_ready(message.content);
  if (op == "exited") return on_exited(message.content);
  if (op == "pong") process_->pings_missed = 0;
  if (op == "forked" || op == "forkFailed") on_forked(message.content, std::move(message.fd));
}

void Zygote::on_ready(const json::object& content) {
  status_.phase = ZygotePhase::ready;
  status_.boot_ms = json::find_number(content, "bootMs").value_or(0);
  status_.level = json::find_string(content, "level").value_or("");
  status_.walls.clear();
  if (const json::array* walls = json::find_array(content, "walls"))
    for (const json::value& wall : *walls)
      if (wall.is_string()) status_.walls.emplace_back(json::view(wall.get_string()));
  limit_group();
  plan_ping();
  ready_.set();
  settled_.set();
  changed();
}

void Zygote::plan_ping() {
  process_->pulse.expires_after(spec_.ping);
  process_->pulse.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
    const auto self = weak.lock();
    if (!error && self && self->process_) self->ping();
  });
}

// Pauses are counted, not time: when relay itself was stopped, one pause has passed, and the answer that
// waits in the socket is read before the next one is over.
void Zygote::ping() {
  Process& process = *process_;
  if (process.pings_missed >= limits::kZygotePingsMissed) {
    append_tail(process.said, fmt::format("it did not answer for {} ms (stopped, or hung) and was ended",
                                          (limits::kZygotePingsMissed * spec_.ping).count()));
    return process.child.signal_group(SIGKILL);
  }
  // A socket that is full counts as no answer.
  if (process.pings_missed++ == 0) (void)process.control.send(json::object{{"op", "ping"}});
  plan_ping();
}

void Zygote::on_forked(const json::object& content, Fd pidfd) {
  const auto entry = pending_.find(json::find_int(content, "id").value_or(0));
  if (entry == pending_.end()) return;
  const std::shared_ptr<PendingFork> pending = std::move(entry->second);
  pending_.erase(entry);
  pending->error = json::find_string(content, "error").value_or("");
  pending->state->pid_inside = static_cast<int>(json::find_int(content, "pid").value_or(0));
  pending->state->pidfd = std::move(pidfd);
  if (pending->error.empty()) children_[pending->state->id] = pending->state;
  status_.children = children_.size();
  if (pending->abandoned) RunChild(pending->state).kill();
  pending->done.set();
}

void Zygote::on_exited(const json::object& content) {
  const auto child = children_.find(json::find_int(content, "id").value_or(0));
  if (child == children_.end()) return;
  child->second->exit = parse_exit(content);
  child->second->exited.set();
  children_.erase(child);
  status_.children = children_.size();
  changed();
}

void Zygote::changed() {
  if (listener_) listener_();
}

io::Task<void> Zygote::wait_ready() {
  const std::shared_ptr<Zygote> self = shared_from_this();
  if (status_.phase == ZygotePhase::stopped) co_return fail(unavailable("the runtime is being shut down"));
  // A start that fails is reported to whoever waits now; the next caller waits for the next start.
  if (!ready_.is_set()) settled_.clear();
  RELAY_CO_TRY(const bool settled,
               co_await settled_.wait_until(steady_clock::now() + limits::kZygoteBootMax));
  if (!settled) co_return fail(timed_out(fmt::format("the {} runtime does not boot", spec_.kind)));
  if (!ready_.is_set())
    co_return fail(
        unavailable(fmt::format("the {} runtime cannot start: {}", spec_.kind, status_.last_error)));
  co_return Result<void>{};
}

namespace {

io::Task<void> wait_until_walled(const RunChild& child) {
  RELAY_CO_TRY(const std::optional<sandbox::FrameView> frame, co_await child.receive());
  if (frame && frame->kind == sandbox::FrameKind::ready) co_return Result<void>{};
  co_return fail(
      unavailable("a child ended before it was ready: a wall could not be built, or memory is short"));
}

}  // namespace

// A zygote that dies meanwhile has a successor, and nothing has been asked of the child yet: the caller waits
// for that one.
io::Task<RunChild> Zygote::fork() {
  const std::shared_ptr<Zygote> self = shared_from_this();
  for (bool may_repeat = true;; may_repeat = false) {
    RELAY_CO_CHECK(co_await wait_ready());
    const std::uint64_t start = status_.starts;
    Result<RunChild> child = co_await fork_now();
    const bool zygote_died = status_.starts != start || status_.phase == ZygotePhase::waiting;
    if (child || !zygote_died || !may_repeat) co_return child;
  }
}

io::Task<RunChild> Zygote::fork_now() {
  const std::shared_ptr<Zygote> self = shared_from_this();
  RELAY_CO_TRY(FdPair socket, open_socket_pair(SOCK_STREAM));
  RELAY_CO_CHECK(set_nonblocking(socket.first));
  const std::int64_t id = next_id_++;
  auto pending =
      std::make_shared<PendingFork>(executor_, RunChild::make_state(executor_, id, std::move(socket.first)));
  pending_[id] = pending;
  // If this coroutine is unwound, the child that is on its way has no owner.
  const std::shared_ptr<void> guard(nullptr,
                                    [pending](void*) { pending->abandoned = !pending->done.is_set(); });
  const Result<void> sent = process_->control.send(json::object{{"op", "fork"}, {"id", id}}, socket.second);
  socket.second.reset();
  if (!sent) {  // most likely the zygote is gone, which is noticed in a moment
    (void)co_await pending->done.wait_until(steady_clock::now() + limits::kExitReport);
    pending_.erase(id);  // one that lives never heard of it
    co_return fail(unavailable(sent.error().message));
  }
  RELAY_CO_CHECK(co_await pending->done.wait());
  if (!pending->error.empty()) co_return fail(unavailable(pending->error));
  RunChild child(pending->state);
  io::asio::steady_timer patience(executor_, limits::kZygoteBootMax);
  patience.async_wait([state = pending->state](const boost::system::error_code& error) {
    if (!error) state->kill();
  });
  Result<void> walled = co_await wait_until_walled(child);
  if (walled) co_return child;
  child.kill();
  (void)co_await child.wait(limits::kExitReport);  // whether its zygote died with it
  co_return fail(std::move(walled.error()));
}

std::size_t Zygote::leaked_children() const {
  if (!process_ || status_.phase != ZygotePhase::ready) return 0;
  const std::vector<int> inner = children_of(process_->child.pid());
  const std::size_t alive = inner.empty() ? 0 : children_of(inner.front()).size();
  const std::size_t known = children_.size() + pending_.size();
  return alive > known ? alive - known : 0;
}

}  // namespace relay::executors
