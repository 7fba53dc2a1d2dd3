#include "proxy_port.h"

#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/fd_passing.h"

namespace relay::cage {
namespace {

std::unexpected<Error> wall_failed(std::string_view step) {
  return fail(from_errno(errno, "wall network_namespace: " + std::string(step)));
}

}  // namespace

Result<void> raise_loopback() {
  const Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  std::strcpy(request.ifr_name, "lo");
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  if (!socket.is_open() || ::ioctl(socket.get(), SIOCSIFFLAGS, &request) != 0)
    return wall_failed("switch on loopback");
  return {};
}

Result<std::uint16_t> give_out_listener(int socket) {
  const Fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  if (!listener.is_open() || ::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), length) != 0 ||
      ::listen(listener.get(), SOMAXCONN) != 0 ||
      ::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &length) != 0)
    return wall_failed("listen for the proxy");
  if (send_with_fd(socket, std::string_view("\0", 1), listener.get()) != 1)
    return wall_failed("hand out the proxy's socket");
  return ntohs(address.sin_port);
}

void set_proxy_variables(std::uint16_t port) {
  const std::string url = "http://127.0.0.1:" + std::to_string(port);
  for (const char* name : {"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"})
    ::setenv(name, url.c_str(), 1);
  // 127.0.0.1 may be a host of relay's machine. For a program that runs no server of its own localhost may
  // be, too; its environment has an empty list then.
  for (const char* name : {"NO_PROXY", "no_proxy"}) {
    const char* given = std::getenv(name);
    if (!given || *given != '\0') ::setenv(name, "localhost", 1);
  }
  ::setenv("NODE_USE_ENV_PROXY", "1", 1);  // Node asks for permission to look
}

}  // namespace relay::cage
