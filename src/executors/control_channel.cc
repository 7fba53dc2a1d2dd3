#include "executors/control_channel.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/limits.h"

namespace relay::executors {
namespace {

namespace asio = boost::asio;

Fd take_descriptor(msghdr& message) {
  Fd taken;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(part), sizeof fd);
    taken.reset(fd);
  }
  return taken;
}

struct Datagram {
  ssize_t bytes = -1;
  int error_number = 0;
  Fd fd;
};

Datagram receive_datagram(int socket, char* text, std::size_t room) {
  alignas(cmsghdr) char ancillary[CMSG_SPACE(sizeof(int))];
  iovec piece{text, room};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = ancillary;
  message.msg_controllen = sizeof ancillary;
  Datagram datagram;
  datagram.bytes = ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  datagram.error_number = errno;
  if (datagram.bytes >= 0) datagram.fd = take_descriptor(message);
  return datagram;
}

}  // namespace

Result<void> ControlChannel::send(const json::object& content, const Fd& fd) {
  const std::string text = json::write(content);
  iovec piece{const_cast<char*>(text.data()), text.size()};
  alignas(cmsghdr) char ancillary[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  if (fd.is_open()) {
    message.msg_control = ancillary;
    message.msg_controllen = sizeof ancillary;
    cmsghdr* const part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof(int));
    const int number = fd.get();
    std::memcpy(CMSG_DATA(part), &number, sizeof number);
  }
  if (::sendmsg(socket_.native_handle(), &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
    return fail(from_errno(errno, "write to a zygote's control socket"));
  return {};
}

io::Task<std::optional<ControlMessage>> ControlChannel::receive() {
  for (;;) {
    char text[limits::kControlBytes];
    Datagram datagram = receive_datagram(socket_.native_handle(), text, sizeof text);
    if (datagram.bytes > 0) {
      RELAY_CO_TRY(json::object content,
                   json::parse_object(std::string_view(text, static_cast<std::size_t>(datagram.bytes))));
      co_return ControlMessage{std::move(content), std::move(datagram.fd)};
    }
    if (datagram.bytes == 0 || datagram.error_number == ECONNRESET) co_return std::optional<ControlMessage>{};
    if (datagram.error_number != EAGAIN && datagram.error_number != EINTR)
      co_return fail(from_errno(datagram.error_number, "read a zygote's control socket"));
    boost::system::error_code error;
    co_await socket_.async_wait(asio::posix::stream_descriptor::wait_read,
                                asio::redirect_error(asio::use_awaitable, error));
    if (error == asio::error::operation_aborted) throw boost::system::system_error(error);
    if (error) co_return fail(unavailable("waiting for a zygote: " + error.message()));
  }
}

void ControlChannel::close() {
  boost::system::error_code ignored;
  socket_.close(ignored);  // NOLINT: closed already is as good
}

}  // namespace relay::executors
