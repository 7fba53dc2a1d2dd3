// ProcessPart: what Relay is as a program and as a process.
#pragma once

#include <memory>

#include "serving/backend.h"
#include "world/part.h"
#include "world/services.h"

namespace relay::world {

/// How Relay introduces itself to clients and to upstream servers.
serving::Identity make_identity();

class ProcessPart final : public Part {
 public:
  static Result<std::unique_ptr<ProcessPart>> open(const Services& services);

  /// name, version, startedAt, runtime.
  void describe(tools::ServerInfo& info) const override;

 private:
  explicit ProcessPart(WallTime started) : started_(started) {}

  WallTime started_;
};

}  // namespace relay::world
