// For tests: a server on its own loop thread, and a client that speaks bytes.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <thread>

#include <gtest/gtest.h>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

#include "base/fd.h"
#include "io/spawn.h"
#include "net/http_server.h"

namespace relay::net {

namespace asio = boost::asio;

/// An event loop on its own thread; run() executes a task there and waits for it.
class LoopThread {
 public:
  LoopThread() : thread_([this] { loop_.run(); }) {}
  ~LoopThread() {
    work_.reset();
    thread_.join();
  }
  io::Loop executor() { return loop_.get_executor(); }

  template <class T>
  Result<T> run(io::Task<T> task) {
    return asio::co_spawn(loop_, std::move(task), asio::use_future).get();
  }
  /// Runs a plain function on the loop and gives its value.
  template <class F>
  auto call(F function) {
    return asio::post(loop_, asio::use_future(std::move(function))).get();
  }

 private:
  asio::io_context loop_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_ = asio::make_work_guard(loop_);
  std::thread thread_;
};

class TestServer {
 public:
  explicit TestServer(HttpHandler handler, HttpServerOptions options = {}) {
    server_ = loop_.call(
        [&] { return HttpServer::open(loop_.executor(), std::move(options), std::move(handler)).value(); });
  }
  ~TestServer() { stop(std::chrono::milliseconds(100)); }

  void stop(std::chrono::steady_clock::duration grace) {
    if (!server_) return;
    EXPECT_TRUE(loop_.run(server_->stop(grace)));
    loop_.call([&] { server_.reset(); });
  }
  [[nodiscard]] std::uint16_t port() const { return server_->port(); }
  std::size_t connection_count() {
    return loop_.call([&] { return server_->connection_count(); });
  }
  LoopThread& loop() { return loop_; }
  HttpServer& server() { return *server_; }

 private:
  LoopThread loop_;
  std::unique_ptr<HttpServer> server_;
};

/// A blocking socket. Reads give up after ten seconds: a test that hangs fails instead.
class RawClient {
 public:
  explicit RawClient(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const timeval limit{.tv_sec = 10, .tv_usec = 0};
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  /// False when the peer is gone.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  void half_close() { ::shutdown(socket_.get(), SHUT_WR); }
  void close() { socket_.reset(); }

  /// Everything until the text occurs (inclusive) or the connection ends.
  std::string read_until(std::string_view text) {
    while (pending_.find(text) == std::string::npos && fill()) {
    }
    const std::size_t at = pending_.find(text);
    return take(at == std::string::npos ? pending_.size() : at + text.size());
  }
  std::string read_all() {
    while (fill()) {
    }
    return take(pending_.size());
  }
  /// One response with Content-Length (or none), head and body.
  std::string read_response() {
    std::string head = read_until("\r\n\r\n");
    const std::size_t at = head.find("Content-Length: ");
    const std::size_t length = at == std::string::npos ? 0 : std::stoul(head.substr(at + 16));
    while (pending_.size() < length && fill()) {
    }
    return head + take(std::min(length, pending_.size()));
  }
  /// True when the peer ended the connection without another byte.
  bool at_end() { return pending_.empty() && !fill(); }

 private:
  bool fill() {
    char bytes[4096];
    const ssize_t got = ::recv(socket_.get(), bytes, sizeof bytes, 0);
    if (got > 0) pending_.append(bytes, static_cast<std::size_t>(got));
    return got > 0;
  }
  std::string take(std::size_t bytes) {
    std::string taken = pending_.substr(0, bytes);
    pending_.erase(0, bytes);
    return taken;
  }

  Fd socket_;
  std::string pending_;
};

}  // namespace relay::net
