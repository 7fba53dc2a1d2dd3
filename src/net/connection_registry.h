// Which connections a server has: the limits on their number, and the one timer that ends those whose time is
// up. Connections carry plain deadlines; nothing is armed per operation. Loop thread only.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include <boost/asio/steady_timer.hpp>

#include "io/event.h"
#include "net/http_server.h"

namespace relay::net {

/// What the server can do to a connection from outside.
class LiveConnection {
 public:
  virtual ~LiveConnection() = default;
  /// Ends what is over its deadline.
  virtual void check_deadline(std::chrono::steady_clock::time_point now) = 0;
  /// Closes when idle; otherwise cancels the handler.
  virtual void shut_down() = 0;
  /// Closes at once.
  virtual void abort() = 0;
};

class ConnectionRegistry : public std::enable_shared_from_this<ConnectionRegistry> {
 public:
  ConnectionRegistry(const io::Loop& executor, const ServerLimits& limits);

  [[nodiscard]] bool has_room(const std::string& address) const;
  void add(const std::shared_ptr<LiveConnection>& connection, const std::string& address);
  void remove(const LiveConnection& connection, const std::string& address);
  [[nodiscard]] std::size_t size() const { return connections_.size(); }

  void shut_down_all();
  void abort_all();
  /// True when no connection is left before the deadline.
  io::Task<bool> wait_until_empty(std::chrono::steady_clock::time_point deadline);

 private:
  void sweep_later();
  void sweep();
  [[nodiscard]] std::vector<std::shared_ptr<LiveConnection>> all() const;

  std::size_t max_connections_;
  std::size_t max_per_address_;
  std::chrono::milliseconds interval_;
  boost::asio::steady_timer timer_;
  bool sweeping_ = false;
  io::Event empty_;
  std::unordered_map<const LiveConnection*, std::weak_ptr<LiveConnection>> connections_;
  std::unordered_map<std::string, std::size_t> per_address_;
};

}  // namespace relay::net
