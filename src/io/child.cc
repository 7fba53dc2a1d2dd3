#include "io/child.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>

#include <fmt/format.h>
#include <boost/asio/read.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/write.hpp>

#include "io/spawn.h"

namespace relay::io {
namespace {

using asio::posix::stream_descriptor;

// What the child does between fork and exec, prepared beforehand: no allocation happens there.
struct ExecPlan {
  std::vector<std::string> candidates;  // full paths to try, in order
  std::vector<std::string> arg_text;
  std::vector<std::string> env_text;
  std::vector<char*> argv;
  std::vector<char*> envp;
  std::vector<std::pair<int, int>> fds;  // (ours, number in the child), sorted by target
  const char* directory = nullptr;
  int status_fd = -1;
  int highest_fd = 2;
  int end_signal = SIGKILL;
};

struct ExecFailure {
  int error_number;
  int step;  // index into kSteps
};
constexpr const char* kSteps[] = {"set up the process", "enter the directory", "run the program",
                                  "arrange descriptors"};

std::vector<std::string> program_candidates(const ChildSpec& spec) {
  if (spec.program.find('/') != std::string::npos) return {spec.program};
  const auto own = spec.environment.find("PATH");
  const char* inherited = ::getenv("PATH");
  const std::string path = own != spec.environment.end() ? own->second
                           : inherited                   ? inherited
                                                         : "/usr/bin:/bin";
  std::vector<std::string> candidates;
  std::size_t begin = 0;
  while (begin <= path.size()) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    const std::string directory = path.substr(begin, end - begin);
    candidates.push_back((directory.empty() ? "." : directory) + "/" + spec.program);
    begin = end + 1;
  }
  return candidates;
}

[[noreturn]] void report_and_exit(int status_fd, int step) {
  const ExecFailure failure{errno, step};
  [[maybe_unused]] const ssize_t ignored = ::write(status_fd, &failure, sizeof failure);
  ::_exit(127);
}

// Runs in the forked child: only async-signal-safe calls.
[[noreturn]] void become_program(ExecPlan& plan, pid_t parent) {
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int ignored_signal : {SIGPIPE, SIGINT, SIGTERM, SIGCHLD, SIGHUP})
    ::signal(ignored_signal, SIG_DFL);
  if (::setpgid(0, 0) != 0 || ::prctl(PR_SET_PDEATHSIG, plan.end_signal) != 0)
    report_and_exit(plan.status_fd, 0);
  if (::getppid() != parent) ::_exit(127);  // the parent died before the line above took effect
  if (plan.directory && ::chdir(plan.directory) != 0) report_and_exit(plan.status_fd, 1);
  // Everything is moved above the highest target first, so that no target overwrites a source.
  for (auto& [source, target] : plan.fds) {
    source = ::fcntl(source, F_DUPFD_CLOEXEC, plan.highest_fd + 1);
    if (source < 0) report_and_exit(plan.status_fd, 3);
  }
  const int status_fd = ::fcntl(plan.status_fd, F_DUPFD_CLOEXEC, plan.highest_fd + 1);
  // Whatever else is open, here or inherited from whoever started us, ends at the exec.
  ::syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC);
  for (const auto& [source, target] : plan.fds)
    if (::dup2(source, target) < 0) report_and_exit(status_fd, 3);
  int last_error = ENOENT;
  for (const std::string& candidate : plan.candidates) {
    ::execve(candidate.c_str(), plan.argv.data(), plan.envp.data());
    if (errno != ENOENT && errno != ENOTDIR) last_error = errno;
  }
  errno = last_error;
  report_and_exit(status_fd, 2);
}

ExecPlan make_plan(const ChildSpec& spec) {
  ExecPlan plan;
  plan.candidates = program_candidates(spec);
  plan.arg_text.push_back(spec.program);
  plan.arg_text.insert(plan.arg_text.end(), spec.args.begin(), spec.args.end());
  for (const auto& [name, value] : spec.environment) plan.env_text.push_back(name + "=" + value);
  for (std::string& text : plan.arg_text) plan.argv.push_back(text.data());
  for (std::string& text : plan.env_text) plan.envp.push_back(text.data());
  plan.argv.push_back(nullptr);
  plan.envp.push_back(nullptr);
  plan.directory = spec.directory.empty() ? nullptr : spec.directory.c_str();
  plan.end_signal = spec.end_signal;
  return plan;
}

// One standard stream: what the child gets, and what stays with us.
struct Wire {
  Fd ours;
  Fd theirs;
};

Result<Wire> make_wire(Stdio kind, int number) {
  switch (kind) {
    case Stdio::inherit: return Wire{Fd(), Fd(::fcntl(number, F_DUPFD_CLOEXEC, 3))};
    case Stdio::null: {
      Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
      if (!null.is_open()) return fail(from_errno(errno, "open /dev/null"));
      return Wire{Fd(), std::move(null)};
    }
    case Stdio::pipe: {
      RELAY_TRY(FdPair ends, open_pipe());
      Fd& ours = number == 0 ? ends.second : ends.first;
      Fd& theirs = number == 0 ? ends.first : ends.second;
      RELAY_CHECK(set_nonblocking(ours));
      return Wire{std::move(ours), std::move(theirs)};
    }
  }
  return fail(internal("unknown kind of standard stream"));
}

ExitStatus to_exit_status(const siginfo_t& info) {
  if (info.si_code == CLD_EXITED) return {.code = info.si_status, .signal = {}};
  return {.code = {}, .signal = info.si_status};
}

// EINTR is the only reason for a blocking wait on our own child to fail.
ExitStatus reap(int pid) {
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED) != 0 && errno == EINTR) {
  }
  return to_exit_status(info);
}

}  // namespace

struct Child::State {
  State(const Loop& executor, int process, int last_signal, Fd pidfd)
      : pid(process),
        end_signal(last_signal),
        exit_watch(executor, pidfd.release()),
        in(executor),
        out(executor),
        err(executor),
        exited(executor) {}

  int pid;
  int end_signal;
  stream_descriptor exit_watch;  // a pidfd: readable when the process has ended
  stream_descriptor in, out, err;
  Event exited;
  std::optional<ExitStatus> status;
};

namespace {

// Owns the state until the process is reaped, whatever happens to the Child.
Task<void> watch_exit(std::shared_ptr<Child::State> state) {
  boost::system::error_code ignored;
  co_await state->exit_watch.async_wait(stream_descriptor::wait_read,
                                        asio::redirect_error(asio::use_awaitable, ignored));
  state->status = reap(state->pid);
  state->exited.set();
  co_return Result<void>{};
}

}  // namespace

std::string describe(const ExitStatus& status) {
  if (status.signal)
    return fmt::format("was killed by SIG{}",
                       sigabbrev_np(*status.signal) ? sigabbrev_np(*status.signal) : "?");
  return fmt::format("exited with code {}", status.code.value_or(-1));
}

Result<std::string> find_program(const ChildSpec& spec) {
  int last_error = ENOENT;
  for (const std::string& candidate : program_candidates(spec)) {
    struct stat status{};
    if (::stat(candidate.c_str(), &status) != 0) continue;
    if (S_ISREG(status.st_mode) && ::access(candidate.c_str(), X_OK) == 0) return candidate;
    last_error = EACCES;
  }
  return fail(from_errno(last_error, fmt::format("start {}: {}", spec.program, kSteps[2])));
}

Result<Child> Child::spawn(const Loop& executor, const ChildSpec& spec) {
  ExecPlan plan = make_plan(spec);
  RELAY_TRY(Wire in, make_wire(spec.in, 0));
  RELAY_TRY(Wire out, make_wire(spec.out, 1));
  RELAY_TRY(Wire err, make_wire(spec.err, 2));
  RELAY_TRY(FdPair status, open_pipe());
  plan.status_fd = status.second.get();
  plan.fds = {{in.theirs.get(), 0}, {out.theirs.get(), 1}, {err.theirs.get(), 2}};
  for (const auto& [target, source] : spec.fds) {
    plan.fds.emplace_back(source, target);
    plan.highest_fd = std::max(plan.highest_fd, target);
  }

  const pid_t parent = ::getpid();
  // vfork semantics: the child borrows our memory until it execs, so a big parent costs nothing.
  const pid_t pid = ::vfork();
  if (pid < 0) return fail(from_errno(errno, "start " + spec.program));
  if (pid == 0) become_program(plan, parent);

  status.second.reset();
  ExecFailure failure{};
  if (::read(status.first.get(), &failure, sizeof failure) == sizeof failure) {
    reap(pid);
    return fail(
        from_errno(failure.error_number, fmt::format("start {}: {}", spec.program, kSteps[failure.step])));
  }
  Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!pidfd.is_open()) {
    const Error error = from_errno(errno, "pidfd_open");
    ::kill(-pid, SIGKILL);
    reap(pid);
    return fail(error);
  }
  auto state = std::make_shared<State>(executor, pid, spec.end_signal, std::move(pidfd));
  if (in.ours.is_open()) state->in.assign(in.ours.release());
  if (out.ours.is_open()) state->out.assign(out.ours.release());
  if (err.ours.is_open()) state->err.assign(err.ours.release());
  io::spawn(executor, watch_exit(state), "child exit");
  return Child(std::move(state));
}

Child::Child(std::shared_ptr<State> state) : state_(std::move(state)) {}
Child::Child(Child&&) noexcept = default;

Child& Child::operator=(Child&& other) noexcept {
  if (this != &other) {
    if (state_ && !state_->status) end_group();
    state_ = std::move(other.state_);
  }
  return *this;
}

Child::~Child() {
  if (state_ && !state_->status) end_group();
}

int Child::pid() const {
  return state_->pid;
}
bool Child::running() const {
  return !state_->status;
}
stream_descriptor& Child::in() {
  return state_->in;
}
stream_descriptor& Child::out() {
  return state_->out;
}
stream_descriptor& Child::err() {
  return state_->err;
}
void Child::close_in() {
  boost::system::error_code ignored;
  state_->in.close(ignored);  // NOLINT: an error here means it was closed already
}

Task<ExitStatus> Child::wait() {
  const std::shared_ptr<State> state = state_;
  RELAY_CO_CHECK(co_await state->exited.wait());
  co_return *state->status;
}

void Child::signal_group(int signal) {
  // The group outlives its leader when grandchildren remain; the pid is ours until it is reaped.
  if (!state_->status || signal == SIGKILL) ::kill(-state_->pid, signal);
}

void Child::end_group() {
  signal_group(state_->end_signal);
}

Task<ExitStatus> Child::stop(std::chrono::steady_clock::duration grace) {
  const std::shared_ptr<State> state = state_;
  const auto now = [] { return std::chrono::steady_clock::now(); };
  close_in();
  RELAY_CO_TRY(bool gone,
               co_await state->exited.wait_until(now() + std::min<std::chrono::steady_clock::duration>(
                                                             grace, std::chrono::milliseconds(200))));
  if (!gone) {
    signal_group(SIGTERM);
    RELAY_CO_TRY(gone, co_await state->exited.wait_until(now() + grace));
  }
  if (!gone) end_group();
  if (!gone && state->end_signal != SIGKILL) {
    RELAY_CO_TRY(gone, co_await state->exited.wait_until(now() + limits::kTermGrace));
    if (!gone) signal_group(SIGKILL);
  }
  RELAY_CO_CHECK(co_await state->exited.wait());
  co_return *state->status;
}

Result<std::size_t> count_children() {
  const std::string path = fmt::format("/proc/self/task/{}/children", ::getpid());
  std::ifstream file(path);
  if (!file) return fail(unavailable("cannot read " + path));
  std::size_t count = 0;
  for (int pid = 0; file >> pid;) ++count;
  return count;
}

Task<bool> LineReader::fill() {
  char chunk[16 * 1024];
  boost::system::error_code error;
  const std::size_t got =
      co_await stream_.async_read_some(asio::buffer(chunk), asio::redirect_error(asio::use_awaitable, error));
  if (error == asio::error::operation_aborted) throw boost::system::system_error(error);
  buffer_.append(chunk, got);
  if (error && error != asio::error::eof)
    co_return fail(unavailable("reading from a pipe: " + error.message()));
  co_return !error;
}

// From the beginning of the line to its newline, or to the end of the stream.
Task<void> LineReader::skip_line() {
  for (;;) {
    const std::size_t newline = buffer_.find('\n');
    if (on_skipped_) on_skipped_(std::string_view(buffer_).substr(0, newline));
    buffer_.erase(0, newline == std::string::npos ? newline : newline + 1);
    if (newline != std::string::npos) co_return Result<void>{};
    RELAY_CO_TRY(const bool more, co_await fill());
    if (!more) co_return Result<void>{};
  }
}

Task<std::optional<std::string>> LineReader::read_line() {
  for (;;) {
    const std::size_t newline = buffer_.find('\n', scanned_);
    const std::size_t length = std::min(newline, buffer_.size());
    scanned_ = length;
    if (length > max_line_bytes_) {
      scanned_ = 0;
      RELAY_CO_CHECK(co_await skip_line());
      co_return fail(too_large(fmt::format("a line is longer than {} bytes", max_line_bytes_)));
    }
    if (newline != std::string::npos) {
      std::string line = buffer_.substr(0, newline);
      buffer_.erase(0, newline + 1);
      scanned_ = 0;
      co_return line;
    }
    RELAY_CO_TRY(const bool more, co_await fill());
    if (more || buffer_.size() > max_line_bytes_) continue;
    if (buffer_.empty()) co_return std::optional<std::string>{};
    scanned_ = 0;
    co_return std::exchange(buffer_, {});
  }
}

Task<void> write_all(stream_descriptor& stream, std::string_view bytes) {
  boost::system::error_code error;
  co_await asio::async_write(stream, asio::buffer(bytes), asio::redirect_error(asio::use_awaitable, error));
  if (error == asio::error::operation_aborted) throw boost::system::system_error(error);
  if (error) co_return fail(unavailable("writing to a pipe: " + error.message()));
  co_return Result<void>{};
}

}  // namespace relay::io
