// ServerService: upstream MCP servers for a guest: the calls mcp.*. Loop thread only.
#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include "codemode/run_servers.h"
#include "runs/host_service.h"

namespace relay::runs {

class ServerService final : public HostService {
 public:
  /// `servers` may be null: then there are none, and the guest is told so.
  explicit ServerService(std::shared_ptr<codemode::RunServers> servers) : servers_(std::move(servers)) {}

  [[nodiscard]] bool handles(std::string_view op) const override { return codemode::RunServers::handles(op); }
  io::Task<executors::HostReply> call(executors::HostCall call) override;

 private:
  std::shared_ptr<codemode::RunServers> servers_;
};

}  // namespace relay::runs
