// The control socket to a zygote: JSON messages, one a datagram, descriptors beside them.
#pragma once

#include <optional>
#include <string>

#include <boost/asio/posix/stream_descriptor.hpp>

#include "base/fd.h"
#include "base/json.h"
#include "io/task.h"

namespace relay::executors {

struct ControlMessage {
  json::object content;
  Fd fd;  // open when one came along
};

class ControlChannel {
 public:
  /// Takes a connected SOCK_SEQPACKET socket.
  ControlChannel(const io::Loop& executor, Fd socket) : socket_(executor, socket.release()) {}

  /// Small, and the zygote always reads: a full socket means that it hangs, which is an error.
  /// A closed fd is not sent.
  Result<void> send(const json::object& content, const Fd& fd = {});
  /// Nothing when the zygote has gone.
  io::Task<std::optional<ControlMessage>> receive();
  void close();

 private:
  boost::asio::posix::stream_descriptor socket_;
};

}  // namespace relay::executors
