// GatewayPart: the upstream servers in the tool list, and which servers there are. It is opened after Relay's
// own toolsets, whose names win.
#pragma once

#include <memory>

#include "gateway/gateway.h"
#include "world/fleet_part.h"
#include "world/group_site_finder.h"
#include "world/part.h"

namespace relay::world {

class GatewayPart final : public Part {
 public:
  /// All outlive it.
  static Result<std::unique_ptr<GatewayPart>> open(const config::Config& config, io::Loop loop,
                                                   GroupSiteFinder& groups, upstream::Fleet& fleet,
                                                   pipeline::GuardedBackend& backend);

  /// upstreams.
  void describe(tools::ServerInfo& info) const override;
  /// Starts, stops and changes servers. Clients that connect from now on are told.
  void adopt(const config::Config& now) override;
  /// Starts servers that are started ahead of time.
  void start(Purpose purpose) override;

 private:
  GatewayPart(const config::Config& config, io::Loop loop, GroupSiteFinder& groups, upstream::Fleet& fleet,
              pipeline::GuardedBackend& backend);

  const config::Config config_;  // of the start
  GroupSiteFinder& groups_;
  upstream::Fleet& fleet_;
  pipeline::GuardedBackend& backend_;
  gateway::Gateway gateway_;
};

}  // namespace relay::world
