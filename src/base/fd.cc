#include "base/fd.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace relay {

void Fd::reset(int fd) {
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
}

Result<FdPair> open_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(from_errno(errno, "pipe"));
  return FdPair{Fd(ends[0]), Fd(ends[1])};
}

Result<FdPair> open_socket_pair(int type) {
  int ends[2];
  if (::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends) != 0) return fail(from_errno(errno, "socketpair"));
  return FdPair{Fd(ends[0]), Fd(ends[1])};
}

Result<void> set_nonblocking(const Fd& fd) {
  const int flags = ::fcntl(fd.get(), F_GETFL);
  if (flags < 0 || ::fcntl(fd.get(), F_SETFL, flags | O_NONBLOCK) < 0)
    return fail(from_errno(errno, "fcntl"));
  return {};
}

}  // namespace relay
