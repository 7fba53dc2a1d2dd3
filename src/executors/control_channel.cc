#include "executors/control_channel.h"

#include <sys/socket.h>

#include <cerrno>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/fd_passing.h"
#include "base/limits.h"

namespace relay::executors {
namespace {

namespace asio = boost::asio;

}  // namespace

Result<void> ControlChannel::send(const json::object& content, const Fd& fd) {
  const std::string text = json::write(content);
  if (send_with_fd(socket_.native_handle(), text, fd.get(), MSG_DONTWAIT) < 0)
    return fail(from_errno(errno, "write to a zygote's control socket"));
  return {};
}

io::Task<std::optional<ControlMessage>> ControlChannel::receive() {
  for (;;) {
    char text[limits::kControlBytes];
    ReceivedMessage received = receive_with_fd(socket_.native_handle(), text, MSG_DONTWAIT);
    if (received.bytes > 0) {
      RELAY_CO_TRY(json::object content,
                   json::parse_object(std::string_view(text, static_cast<std::size_t>(received.bytes))));
      co_return ControlMessage{std::move(content), std::move(received.fd)};
    }
    if (received.bytes == 0 || received.error_number == ECONNRESET) co_return std::optional<ControlMessage>{};
    if (received.error_number != EAGAIN)
      co_return fail(from_errno(received.error_number, "read a zygote's control socket"));
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
