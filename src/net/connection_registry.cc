#include "net/connection_registry.h"

#include <algorithm>

namespace relay::net {
namespace {

using namespace std::chrono_literals;

// Fine enough for the shortest limit, coarse enough to cost nothing.
std::chrono::milliseconds sweep_interval(const ServerLimits& limits) {
  const auto shortest =
      std::min({limits.header_timeout, limits.body_timeout, limits.idle_timeout, limits.write_timeout});
  return std::clamp<std::chrono::milliseconds>(shortest / 4, 5ms, 500ms);
}

}  // namespace

ConnectionRegistry::ConnectionRegistry(const io::Loop& executor, const ServerLimits& limits)
    : max_connections_(limits.connections),
      max_per_address_(limits.connections_per_address),
      interval_(sweep_interval(limits)),
      timer_(executor),
      empty_(executor) {
  empty_.set();
}

bool ConnectionRegistry::has_room(const std::string& address) const {
  if (connections_.size() >= max_connections_) return false;
  const auto found = per_address_.find(address);
  return found == per_address_.end() || found->second < max_per_address_;
}

void ConnectionRegistry::add(const std::shared_ptr<LiveConnection>& connection, const std::string& address) {
  connections_.emplace(connection.get(), connection);
  ++per_address_[address];
  empty_.clear();
  if (!sweeping_) sweep_later();
}

void ConnectionRegistry::remove(const LiveConnection& connection, const std::string& address) {
  if (connections_.erase(&connection) == 0) return;
  const auto found = per_address_.find(address);
  if (--found->second == 0) per_address_.erase(found);
  if (!connections_.empty()) return;
  timer_.cancel();
  empty_.set();
}

void ConnectionRegistry::sweep_later() {
  sweeping_ = true;
  timer_.expires_after(interval_);
  timer_.async_wait([weak = weak_from_this()](const boost::system::error_code&) {
    if (const auto self = weak.lock()) self->sweep();
  });
}

void ConnectionRegistry::sweep() {
  sweeping_ = false;
  const auto now = std::chrono::steady_clock::now();
  for (const auto& connection : all()) connection->check_deadline(now);
  if (!connections_.empty()) sweep_later();
}

std::vector<std::shared_ptr<LiveConnection>> ConnectionRegistry::all() const {
  std::vector<std::shared_ptr<LiveConnection>> alive;
  alive.reserve(connections_.size());
  for (const auto& [key, weak] : connections_)
    if (auto connection = weak.lock()) alive.push_back(std::move(connection));
  return alive;
}

void ConnectionRegistry::shut_down_all() {
  for (const auto& connection : all()) connection->shut_down();
}

void ConnectionRegistry::abort_all() {
  for (const auto& connection : all()) connection->abort();
}

io::Task<bool> ConnectionRegistry::wait_until_empty(std::chrono::steady_clock::time_point deadline) {
  co_return co_await empty_.wait_until(deadline);
}

}  // namespace relay::net
