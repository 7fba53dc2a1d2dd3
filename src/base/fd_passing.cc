#include "base/fd_passing.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace relay {
namespace {

// The kernel rounds the space of one descriptor up, so that two may fit into it.
Fd take_first(msghdr& message) {
  Fd first;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(part) + i * sizeof number, sizeof number);
      Fd taken(number);
      if (!first.is_open()) first = std::move(taken);
    }
  }
  return first;
}

}  // namespace

ssize_t send_with_fd(int socket, std::string_view bytes, int fd, int flags) {
  iovec piece{const_cast<char*>(bytes.data()), bytes.size()};
  alignas(cmsghdr) char ancillary[CMSG_SPACE(sizeof fd)] = {};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  if (fd >= 0) {
    message.msg_control = ancillary;
    message.msg_controllen = sizeof ancillary;
    cmsghdr* const part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof fd);
    std::memcpy(CMSG_DATA(part), &fd, sizeof fd);
  }
  for (;;) {
    const ssize_t sent = ::sendmsg(socket, &message, MSG_NOSIGNAL | flags);
    if (sent >= 0 || errno != EINTR) return sent;
  }
}

ReceivedMessage receive_with_fd(int socket, std::span<char> room, int flags) {
  alignas(cmsghdr) char ancillary[CMSG_SPACE(sizeof(int))] = {};
  iovec piece{room.data(), room.size()};
  for (;;) {
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = ancillary;
    message.msg_controllen = sizeof ancillary;
    ReceivedMessage received;
    received.bytes = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC | flags);
    if (received.bytes < 0 && errno == EINTR) continue;
    if (received.bytes < 0)
      received.error_number = errno;
    else
      received.fd = take_first(message);
    return received;
  }
}

}  // namespace relay
