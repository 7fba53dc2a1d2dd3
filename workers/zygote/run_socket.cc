#include "run_socket.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "base/limits.h"

namespace relay::zygote {
namespace {

using std::chrono::steady_clock;

// A page or two: a frame that is longer says so in its first bytes, and then gets the room it needs.
constexpr std::size_t kReadBytes = 8 * limits::kKiB;

double ms_until(steady_clock::time_point deadline) {
  return std::chrono::duration<double, std::milli>(deadline - steady_clock::now()).count();
}

// Takes what was written off the front of the list; true when nothing is left.
bool consume(msghdr& message, std::size_t written) {
  while (message.msg_iovlen > 0 && written >= message.msg_iov->iov_len) {
    written -= message.msg_iov->iov_len;
    ++message.msg_iov;
    --message.msg_iovlen;
  }
  if (message.msg_iovlen == 0) return true;
  message.msg_iov->iov_base = static_cast<char*>(message.msg_iov->iov_base) + written;
  message.msg_iov->iov_len -= written;
  return false;
}

}  // namespace

RunSocket::RunSocket(int fd) : fd_(fd), reader_(sandbox::FrameSource::relay, limits::kFrameBytesToChild) {}

Result<void> RunSocket::send(sandbox::FrameKind kind, std::string_view header, std::string_view body) {
  const std::string prefix = sandbox::make_frame_prefix(kind, header.size(), body.size());
  iovec pieces[3] = {{const_cast<char*>(prefix.data()), prefix.size()},
                     {const_cast<char*>(header.data()), header.size()},
                     {const_cast<char*>(body.data()), body.size()}};
  msghdr message{};
  message.msg_iov = pieces;
  message.msg_iovlen = 3;
  for (;;) {
    const ssize_t written = ::sendmsg(fd_, &message, MSG_NOSIGNAL);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      closed_ = true;
      return fail(from_errno(errno, "write to the run socket"));
    }
    if (consume(message, static_cast<std::size_t>(written))) return {};
  }
}

Result<bool> RunSocket::wait_readable(double timeout_ms) const {
  pollfd entry{fd_, POLLIN, 0};
  timespec time{};
  if (timeout_ms >= 0) {
    time.tv_sec = static_cast<time_t>(timeout_ms / 1000);
    time.tv_nsec = static_cast<long>((timeout_ms - static_cast<double>(time.tv_sec) * 1000) * 1e6);
  }
  const int ready = ::ppoll(&entry, 1, timeout_ms < 0 ? nullptr : &time, nullptr);
  if (ready < 0 && errno != EINTR) return fail(from_errno(errno, "wait for the run socket"));
  return ready > 0;
}

Result<void> RunSocket::read_some() {
  const std::size_t room = std::max(kReadBytes, reader_.missing_bytes());
  const ssize_t got = ::recv(fd_, reader_.prepare(room), room, 0);
  if (got < 0 && errno == EINTR) return {};
  if (got <= 0) {
    closed_ = true;
    return fail(got == 0 ? unavailable("relay has closed the run socket")
                         : from_errno(errno, "read the run socket"));
  }
  reader_.commit(static_cast<std::size_t>(got));
  return {};
}

Result<std::optional<sandbox::FrameView>> RunSocket::receive(double timeout_ms) {
  const auto deadline =
      steady_clock::now() + std::chrono::duration_cast<steady_clock::duration>(
                                std::chrono::duration<double, std::milli>(std::clamp(timeout_ms, 0.0, 1e9)));
  for (;;) {
    auto frame = reader_.next();
    if (!frame) closed_ = true;
    if (!frame || *frame) return frame;
    if (timeout_ms >= 0) {
      RELAY_TRY(const bool readable, wait_readable(std::max(0.0, ms_until(deadline))));
      if (!readable && ms_until(deadline) <= 0) return std::optional<sandbox::FrameView>{};
      if (!readable) continue;
    }
    RELAY_CHECK(read_some());
  }
}

}  // namespace relay::zygote
