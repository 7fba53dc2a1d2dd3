#include "fork_server.h"

#include <poll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <map>

#include "base/fd_passing.h"
#include "base/limits.h"

namespace relay::zygote {
namespace {

Result<Fd> watch_children() {
  sigset_t signals;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
  Fd watch(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!watch.is_open()) return fail(from_errno(errno, "signalfd"));
  return watch;
}

struct Request {
  std::string text;  // empty: relay hung up
  Fd socket;
};

Result<Request> receive_request(int control) {
  char text[limits::kControlBytes];
  ReceivedMessage received = receive_with_fd(control, text);
  if (received.bytes < 0 && received.error_number != ECONNRESET)
    return fail(from_errno(received.error_number, "read the control socket"));
  const auto bytes = static_cast<std::size_t>(std::max<ssize_t>(received.bytes, 0));
  return Request{std::string(text, bytes), std::move(received.fd)};
}

double milliseconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) / 1e3;
}

json::object exit_message(std::int64_t id, int status, const rusage& usage) {
  json::object message{{"op", "exited"}, {"id", id}, {"code", nullptr}, {"signal", nullptr}};
  if (WIFEXITED(status)) message["code"] = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) message["signal"] = WTERMSIG(status);
  message["cpuMs"] = milliseconds(usage.ru_utime) + milliseconds(usage.ru_stime);
  message["maxRssKb"] = usage.ru_maxrss;
  return message;
}

}  // namespace

Result<void> ForkServer::say(const json::object& object, int fd) {
  const std::string text = json::write(object);
  if (send_with_fd(control_, text, fd) < 0) return fail(from_errno(errno, "write to the control socket"));
  return {};
}

Result<void> ForkServer::fork_child(std::int64_t id, int socket) {
  oom_priority_.children_first();
  const pid_t pid = ::fork();
  if (pid != 0) oom_priority_.as_before();
  if (pid == 0) {
    serve_(socket);
    ::_exit(0);
  }
  if (pid < 0) return say({{"op", "forkFailed"}, {"id", id}, {"error", std::strerror(errno)}});
  children_[pid] = id;
  // The child is ours to reap, so its pid cannot have been given to another process yet.
  const Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!pidfd.is_open()) {
    ::kill(pid, SIGKILL);
    return say({{"op", "forkFailed"}, {"id", id}, {"error", "pidfd_open failed"}});
  }
  return say({{"op", "forked"}, {"id", id}, {"pid", pid}}, pidfd.get());
}

Result<bool> ForkServer::handle_request() {
  RELAY_TRY(const Request request, receive_request(control_));
  if (request.text.empty()) return false;
  RELAY_TRY(const json::object message, json::parse_object(request.text));
  if (json::find_string(message, "op") == "ping") {
    RELAY_CHECK(say({{"op", "pong"}}));
    return true;
  }
  const std::optional<std::int64_t> id = json::find_int(message, "id");
  if (json::find_string(message, "op") != "fork" || !id || !request.socket.is_open())
    return fail(invalid("the control socket carries pings and fork requests only: " + request.text));
  RELAY_CHECK(fork_child(*id, request.socket.get()));
  return true;
}

Result<void> ForkServer::reap() {
  int status = 0;
  rusage usage{};
  for (pid_t pid = 0; (pid = ::wait4(-1, &status, WNOHANG, &usage)) > 0;) {
    const auto child = children_.find(pid);
    if (child == children_.end()) continue;
    const std::int64_t id = child->second;
    children_.erase(child);
    RELAY_CHECK(say(exit_message(id, status, usage)));
  }
  return {};
}

Result<void> ForkServer::run(json::object ready) {
  RELAY_TRY(const Fd watch, watch_children());
  RELAY_CHECK(say(ready));
  for (;;) {
    pollfd entries[2] = {{control_, POLLIN, 0}, {watch.get(), POLLIN, 0}};
    if (::poll(entries, 2, -1) < 0 && errno != EINTR) return fail(from_errno(errno, "poll"));
    if (entries[0].revents) {
      RELAY_TRY(const bool open, handle_request());
      if (!open) return {};
    }
    if (entries[1].revents) {
      signalfd_siginfo ignored{};
      while (::read(watch.get(), &ignored, sizeof ignored) > 0) {
      }
      RELAY_CHECK(reap());
    }
  }
}

}  // namespace relay::zygote
