// What a connection needs of a stream beyond async_read_some and async_write_some, for TCP and for TLS. Any
// other stream (a test's in-memory one) gets by with the plain template.
#pragma once

#include <array>
#include <cstddef>
#include <memory>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "io/task.h"

namespace relay::net {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

/// Up to three pieces that leave with one system call.
class Pieces {
 public:
  Pieces(asio::const_buffer a, asio::const_buffer b = {}, asio::const_buffer c = {}) : buffers_{a, b, c} {}

  [[nodiscard]] const std::array<asio::const_buffer, 3>& buffers() const { return buffers_; }
  [[nodiscard]] bool empty() const { return asio::buffer_size(buffers_) == 0; }
  void consume(std::size_t bytes) {
    for (asio::const_buffer& buffer : buffers_) {
      const std::size_t here = std::min(bytes, buffer.size());
      buffer += here;
      bytes -= here;
    }
  }

 private:
  std::array<asio::const_buffer, 3> buffers_;
};

template <class Stream>
struct StreamFace {
  static constexpr bool kSecure = false;
  static asio::awaitable<error_code> handshake(Stream&) { co_return error_code{}; }
  static asio::awaitable<void> say_goodbye(Stream&) { co_return; }
  /// Writes what can be written without waiting: the usual case for a small answer.
  static std::size_t write_now(Stream&, const Pieces&) { return 0; }
  static void cancel(Stream& stream) { stream.close(); }
  static void shut_down_sending(Stream& stream) { stream.close(); }
  static void close(Stream& stream) { stream.close(); }
};

template <>
struct StreamFace<tcp::socket> {
  static constexpr bool kSecure = false;
  static asio::awaitable<error_code> handshake(tcp::socket&) { co_return error_code{}; }
  static asio::awaitable<void> say_goodbye(tcp::socket&) { co_return; }
  static std::size_t write_now(tcp::socket& socket, const Pieces& pieces) {
    error_code error;  // would_block included: whatever it is, the waiting write meets it again
    const std::size_t sent = socket.write_some(pieces.buffers(), error);
    return error ? 0 : sent;
  }
  static void cancel(tcp::socket& socket) {
    error_code ignored;
    socket.cancel(ignored);
  }
  static void shut_down_sending(tcp::socket& socket) {
    error_code ignored;
    socket.shutdown(tcp::socket::shutdown_send, ignored);
  }
  static void close(tcp::socket& socket) {
    error_code ignored;
    socket.close(ignored);
  }
};

using TlsStream = asio::ssl::stream<tcp::socket>;

template <>
struct StreamFace<TlsStream> {
  static constexpr bool kSecure = true;
  static asio::awaitable<error_code> handshake(TlsStream& stream) {
    error_code error;
    co_await stream.async_handshake(TlsStream::server, asio::redirect_error(asio::use_awaitable, error));
    co_return error;
  }
  // The close_notify tells the peer that nothing was cut off.
  static asio::awaitable<void> say_goodbye(TlsStream& stream) {
    error_code ignored;
    co_await stream.async_shutdown(asio::redirect_error(asio::use_awaitable, ignored));
  }
  static std::size_t write_now(TlsStream&, const Pieces&) { return 0; }
  static void cancel(TlsStream& stream) { StreamFace<tcp::socket>::cancel(stream.next_layer()); }
  static void shut_down_sending(TlsStream& stream) {
    StreamFace<tcp::socket>::shut_down_sending(stream.next_layer());
  }
  static void close(TlsStream& stream) { StreamFace<tcp::socket>::close(stream.next_layer()); }
};

}  // namespace relay::net
