// ToolsetsPart: Relay's own tools, as the configuration's `toolsets` names them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tools/toolsets.h"
#include "world/live_toolset.h"
#include "world/part.h"

namespace relay::world {

class ToolsetsPart final : public Part {
 public:
  /// Opens the toolsets of the configuration and adds them to the backend. All outlive it.
  static Result<std::unique_ptr<ToolsetsPart>> open(const config::Config& config,
                                                    const tools::ToolsetParts& parts,
                                                    pipeline::GuardedBackend& backend, Log& log);

  /// toolsets.
  void describe(tools::ServerInfo& info) const override;
  /// Switches toolsets off, or on again that were opened at the start, and describes the others anew when
  /// what descriptions tell (mounts, limits) has changed.
  void adopt(const config::Config& now) override;
  /// Of the configuration's toolsets, those that were opened at the start.
  [[nodiscard]] std::vector<std::string> usable(const std::vector<std::string>& names) const;

 private:
  ToolsetsPart(const config::Config& config, tools::ToolsetParts parts, pipeline::GuardedBackend& backend,
               Log& log);
  void describe_again(LiveToolset& toolset);

  tools::ToolsetParts parts_;
  pipeline::GuardedBackend& backend_;
  Log& log_;
  std::vector<config::MountConfig> mounts_;  // that descriptions tell of
  policy::LimitsPolicy limits_;
  std::vector<std::unique_ptr<LiveToolset>> toolsets_;
};

}  // namespace relay::world
