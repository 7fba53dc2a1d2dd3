// The proxy of a cage with real sockets on loopback: the test is the cage, which hands over a listening
// socket.
#include "launch/cage_proxy.h"

#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstring>

#include <fmt/format.h>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>

#include "io/test_loop.h"

namespace relay::launch {
namespace {

namespace asio = io::asio;
using asio::ip::tcp;
using testing::HasSubstr;
using testing::StartsWith;

void send_descriptor(int socket, int descriptor) {
  char byte = 0;
  iovec piece{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  ASSERT_EQ(::sendmsg(socket, &message, 0), 1);
}

/// A server on loopback that gives the same answer to every connection and keeps what it was told.
class Peer {
 public:
  Peer(io::TestLoop& loop, std::string answer)
      : acceptor_(loop.context(), tcp::endpoint(asio::ip::address_v4::loopback(), 0)),
        answer_(std::move(answer)) {
    io::spawn(loop.executor(), serve(), "a peer of the test");
  }
  [[nodiscard]] std::uint16_t port() const { return acceptor_.local_endpoint().port(); }
  std::vector<std::string> heads;

 private:
  io::Task<void> serve() {
    for (;;) {
      tcp::socket socket = co_await acceptor_.async_accept(asio::use_awaitable);
      std::string head;
      co_await asio::async_read_until(socket, asio::dynamic_buffer(head), "\r\n\r\n", asio::use_awaitable);
      heads.push_back(head);
      co_await asio::async_write(socket, asio::buffer(answer_), asio::use_awaitable);
    }
  }
  tcp::acceptor acceptor_;
  std::string answer_;
};

class CageProxyTest : public testing::Test {
 protected:
  void open(const CageSpec& cage) {
    auto made = CageProxy::make(loop.executor(), cage, log);
    ASSERT_TRUE(made) << made.error().message;
    proxy = std::move(*made);
    // Not one of the loop's own: that would be registered twice.
    const Fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    ASSERT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), length), 0);
    ASSERT_EQ(::listen(listener.get(), SOMAXCONN), 0);
    ASSERT_EQ(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &length), 0);
    entrance = tcp::endpoint(asio::ip::address_v4::loopback(), ntohs(address.sin_port));
    send_descriptor(proxy->cage_socket(), listener.get());
    proxy->cage_started();
  }
  // What the proxy, or what is behind it, says to this; until it closes.
  std::string ask(std::string request) {
    auto talk = [this](std::string text) -> io::Task<std::string> {
      tcp::socket socket(loop.context());
      co_await socket.async_connect(entrance, asio::use_awaitable);
      co_await asio::async_write(socket, asio::buffer(text), asio::use_awaitable);
      socket.shutdown(tcp::socket::shutdown_send);
      std::string answer;
      boost::system::error_code ignored;
      co_await asio::async_read(socket, asio::dynamic_buffer(answer),
                                asio::redirect_error(asio::use_awaitable, ignored));
      co_return answer;
    };
    return loop.run(talk(std::move(request))).value_or("no answer");
  }
  static std::string get(const std::string& authority) {
    return fmt::format("GET http://{}/x HTTP/1.1\r\n\r\n", authority);
  }

  io::TestLoop loop;
  SystemClock clock;
  std::shared_ptr<ServerLog> log =
      std::make_shared<ServerLog>(clock, std::make_shared<const secrets::Redactor>(), nullptr);
  std::unique_ptr<CageProxy> proxy;
  tcp::endpoint entrance;
};

TEST_F(CageProxyTest, ANameThatLeadsToAPrivateAddressIsRefused) {
  Peer peer(loop, "HTTP/1.1 200 OK\r\n\r\nfound");
  const std::string authority = fmt::format("localhost:{}", peer.port());
  open({.hosts = {authority}});
  EXPECT_THAT(ask(get(authority)), HasSubstr("localhost leads to addresses that are not public"));
  EXPECT_TRUE(peer.heads.empty());
}

TEST_F(CageProxyTest, UnlessItIsVouchedForWithItsPort) {
  Peer peer(loop, "HTTP/1.1 200 OK\r\n\r\nfound");
  Peer other(loop, "HTTP/1.1 200 OK\r\n\r\nother");
  const std::string authority = fmt::format("localhost:{}", peer.port());
  open({.hosts = {"localhost"}, .private_hosts = {authority}});
  EXPECT_THAT(ask(get(authority)), HasSubstr("found"));
  EXPECT_THAT(ask(get(fmt::format("localhost:{}", other.port()))), HasSubstr("not public"));
  EXPECT_TRUE(other.heads.empty());
}

TEST_F(CageProxyTest, WhatIsVouchedForMustStillBeAmongTheHosts) {
  Peer peer(loop, "HTTP/1.1 200 OK\r\n\r\nfound");
  const std::string authority = fmt::format("localhost:{}", peer.port());
  open({.hosts = {"example.org"}, .private_hosts = {authority}});
  EXPECT_THAT(ask(get(authority)), StartsWith("HTTP/1.1 403 "));
  EXPECT_TRUE(peer.heads.empty());
}

TEST_F(CageProxyTest, AnOutsideProxyIsAskedForATunnel) {
  Peer outside(loop, "HTTP/1.1 200 Connection established\r\n\r\n");
  const OutsideProxy corporate{"127.0.0.1", outside.port(), "Basic eA=="};
  open({.hosts = {"registry.example"}, .outside = {.for_tunnels = corporate}});
  EXPECT_EQ(ask("CONNECT registry.example:443 HTTP/1.1\r\n\r\n"), "HTTP/1.1 200 connected\r\n\r\n");
  ASSERT_EQ(outside.heads.size(), 1U);
  EXPECT_THAT(outside.heads[0], StartsWith("CONNECT registry.example:443 HTTP/1.1\r\n"));
  EXPECT_THAT(outside.heads[0], HasSubstr("\r\nProxy-Authorization: Basic eA==\r\n"));
}

TEST_F(CageProxyTest, AnOutsideProxyIsAskedOnlyForHostsOfTheCage) {
  Peer outside(loop, "HTTP/1.1 200 Connection established\r\n\r\n");
  open({.hosts = {"registry.example"},
        .outside = {.for_tunnels = OutsideProxy{"127.0.0.1", outside.port(), ""}}});
  EXPECT_THAT(ask("CONNECT elsewhere.example:443 HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 403 "));
  EXPECT_TRUE(outside.heads.empty());
}

TEST_F(CageProxyTest, WhatTheOutsideProxyRefusesIsSaid) {
  Peer outside(loop, "HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
  open({.hosts = {"registry.example"},
        .outside = {.for_tunnels = OutsideProxy{"127.0.0.1", outside.port(), ""}}});
  EXPECT_THAT(ask("CONNECT registry.example:443 HTTP/1.1\r\n\r\n"),
              HasSubstr("407 Proxy Authentication Required"));
}

TEST_F(CageProxyTest, HostsOfNoProxyAreReachedDirectly) {
  Peer outside(loop, "HTTP/1.1 200 Connection established\r\n\r\n");
  Peer peer(loop, "HTTP/1.1 200 OK\r\n\r\nfound");
  const std::string authority = fmt::format("127.0.0.1:{}", peer.port());
  open({.hosts = {authority},
        .outside = {.for_requests = OutsideProxy{"127.0.0.1", outside.port(), ""}, .direct = {"127.0.0.1"}}});
  EXPECT_THAT(ask(get(authority)), HasSubstr("found"));
  EXPECT_TRUE(outside.heads.empty());
}

}  // namespace
}  // namespace relay::launch
