// The network of a run: its `fetch` calls, through the guarded client, under the run's own policy.
#pragma once

#include <memory>
#include <string>

#include "fetch/guarded_fetch.h"
#include "tools/run_host.h"

namespace relay::tools {

class GuardedNetwork final : public RunNetwork {
 public:
  explicit GuardedNetwork(std::shared_ptr<fetch::GuardedFetch> fetch) : fetch_(std::move(fetch)) {}

  io::Task<executors::HostReply> fetch(executors::HostCall call, executors::HostStream& stream) override;
  /// The body of one GET: how wheels with an address of their own are fetched.
  io::Task<std::string> fetch_bytes(std::string url);

 private:
  std::shared_ptr<fetch::GuardedFetch> fetch_;
};

}  // namespace relay::tools
