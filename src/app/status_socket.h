// StatusSocket: where a running Relay says how it is: `<state>/status/<pid>.sock`. Whoever connects is sent
// one JSON object, and the connection is closed; docs/formats/status_socket.md has its members. The state
// directory is the operator's alone (0700), and so is the socket. `relay status`, `relay mcp list` and `relay
// clean` read it.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/log.h"
#include "config/config.h"
#include "io/task.h"

namespace relay::world {
class World;
}  // namespace relay::world

namespace relay::app {

/// Owned by the command that serves; destroying it removes the socket. Loop thread only.
class StatusSocket {
 public:
  using Report = std::function<json::object()>;

  /// Removes the sockets of processes that no longer run. `report` is called for each connection.
  static Result<std::unique_ptr<StatusSocket>> open(const io::Loop& loop, const std::filesystem::path& state,
                                                    Report report);
  ~StatusSocket();
  StatusSocket(const StatusSocket&) = delete;
  StatusSocket& operator=(const StatusSocket&) = delete;

 private:
  class Listener;
  explicit StatusSocket(std::shared_ptr<Listener> listener);
  std::shared_ptr<Listener> listener_;
};

/// The socket of this process. Without one Relay serves all the same, and the log says so.
std::unique_ptr<StatusSocket> open_status(const io::Loop& loop, const config::Config& config, Log& log,
                                          StatusSocket::Report report);
/// What every command that serves reports: what `server_info` tells, the command and the configuration.
json::object describe_running(const world::World& world, std::string_view command);

/// A Relay that runs on this state directory.
struct RunningRelay {
  std::int64_t pid = 0;
  std::optional<json::object> report;  // nothing: it is there, but did not answer in time
};

/// Asks each of them, those that serve HTTP first. Blocks, for two seconds per process at most.
std::vector<RunningRelay> find_running(const std::filesystem::path& state);

/// Sockets of processes that ended without removing them. Blocks.
std::vector<std::filesystem::path> find_dead_sockets(const std::filesystem::path& state);

}  // namespace relay::app
