// RunHost: what one run can reach: a list of services, each with its own operations. Every request of a guest
// ends here; an operation that no service has is refused.
//
// It lives as long as anything of the run does. Loop thread only.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "runs/host_service.h"

namespace relay::runs {

class RunHost final : public executors::HostCalls {
 public:
  explicit RunHost(std::vector<std::shared_ptr<HostService>> services) : services_(std::move(services)) {}
  io::Task<executors::HostReply> call(executors::HostCall call, executors::HostStream& stream) override;

 private:
  std::vector<std::shared_ptr<HostService>> services_;
};

}  // namespace relay::runs
