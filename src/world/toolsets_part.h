// ToolsetsPart: Relay's own tools, as the configuration's `toolsets` names them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tools/toolsets.h"
#include "world/part.h"

namespace relay::world {

class ToolsetsPart final : public Part {
 public:
  /// Opens the toolsets of the configuration and adds them to the backend. All outlive it.
  static Result<std::unique_ptr<ToolsetsPart>> open(const config::Config& config,
                                                    const tools::ToolsetParts& parts,
                                                    pipeline::GuardedBackend& backend);

  /// toolsets.
  void describe(tools::ServerInfo& info) const override;

 private:
  ToolsetsPart() = default;

  std::vector<std::string> names_;
  tools::Providers providers_;
};

}  // namespace relay::world
