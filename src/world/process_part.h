// ProcessPart: what Relay is as a program and as a process.
#pragma once

#include <memory>
#include <string>

#include "serving/backend.h"
#include "world/part.h"
#include "world/services.h"

namespace relay::world {

/// How Relay introduces itself to clients and to upstream servers.
serving::Identity make_identity();

class ProcessPart final : public Part {
 public:
  static Result<std::unique_ptr<ProcessPart>> open(const Services& services, std::string node);

  /// name, version, node, startedAt, runtime.
  void describe(tools::ServerInfo& info) const override;
  /// The process, by the names that Prometheus clients have for it, and the version.
  void measure(metrics::Registry& metrics) const override;

 private:
  ProcessPart(WallTime started, std::string node) : started_(started), node_(std::move(node)) {}

  WallTime started_;
  std::string node_;
};

}  // namespace relay::world
