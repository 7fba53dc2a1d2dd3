// For tests: a RunChild whose other end is in the test's hands, with a real process behind its pidfd.
#pragma once

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>

#include <gtest/gtest.h>
#include <boost/asio/io_context.hpp>

#include "base/fd.h"
#include "executors/run_child.h"
#include "io/spawn.h"

namespace relay::executors {

class FakeChild {
 public:
  explicit FakeChild(const io::Loop& executor) {
    FdPair ends = *open_socket_pair(SOCK_STREAM);
    (void)set_nonblocking(ends.first);
    other = std::move(ends.second);
    state = RunChild::make_state(executor, 1, std::move(ends.first));
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close_range(0, ~0U, 0);
      for (;;) ::pause();
    }
    state->pidfd = Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
    child = std::make_shared<RunChild>(state);
  }
  ~FakeChild() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  FakeChild(const FakeChild&) = delete;
  FakeChild& operator=(const FakeChild&) = delete;

  void say(std::string_view bytes) const {
    ASSERT_EQ(::write(other.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  /// As if the process had ended: what a zygote would report, and the end of the socket.
  void end(ChildExit exit) {
    state->exit = exit;
    state->exited.set();
    other.reset();
  }
  /// True when relay has killed it; a signal takes a moment to arrive.
  [[nodiscard]] bool was_killed() const {
    pollfd ended{state->pidfd.get(), POLLIN, 0};
    return ::poll(&ended, 1, 5000) == 1;
  }

  Fd other;
  std::shared_ptr<RunChild::State> state;
  std::shared_ptr<RunChild> child;

 private:
  pid_t pid_ = -1;
};

/// Runs the loop until the task has ended, or nothing is left to do.
template <class T>
std::optional<Result<T>> run_to_end(boost::asio::io_context& loop, io::Task<T> task) {
  std::optional<Result<T>> result;
  auto body = [](io::Task<T> inner, std::optional<Result<T>>& out) -> io::Task<void> {
    out = co_await std::move(inner);
    co_return Result<void>{};
  };
  io::spawn(loop.get_executor(), body(std::move(task), result), "test");
  loop.restart();
  while (!result && loop.run_one_for(std::chrono::seconds(20)) > 0) {
  }
  return result;
}

}  // namespace relay::executors
