// The network of a run: its `fetch` calls, through the guarded client, under the run's own policy.
//
// Bodies are pulled: a response that is longer than a frame's worth is named in the reply, and the guest asks
// for the next piece when it wants one. So a guest that does not read holds the server back, and nothing
// piles up. What is still open goes with the run. docs/formats/fetch.md has the calls.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "fetch/guarded_fetch.h"
#include "runs/fetch_streams.h"
#include "runs/host_service.h"

namespace relay::runs {

class GuardedNetwork final : public HostService {
 public:
  GuardedNetwork(io::Loop loop, std::shared_ptr<fetch::GuardedFetch> fetch)
      : loop_(std::move(loop)), fetch_(std::move(fetch)) {}

  [[nodiscard]] bool handles(std::string_view op) const override {
    return op == "fetch" || op.starts_with("fetch.");
  }
  io::Task<executors::HostReply> call(executors::HostCall call) override;
  /// The body of one GET: how wheels with an address of their own are fetched.
  io::Task<std::string> fetch_bytes(std::string url);

  [[nodiscard]] std::size_t open_responses() const { return downloads_.size(); }

 private:
  io::Task<executors::HostReply> fetch(executors::HostCall call);
  io::Task<executors::HostReply> reply_to(std::unique_ptr<fetch::FetchResponse> response);
  io::Task<executors::HostReply> read(std::int64_t number);
  io::Task<executors::HostReply> write(executors::HostCall call);
  Result<void> check_room();

  io::Loop loop_;
  std::shared_ptr<fetch::GuardedFetch> fetch_;
  std::map<std::int64_t, std::shared_ptr<Download>> downloads_;
  std::map<std::int64_t, std::shared_ptr<Upload>> uploads_;
  std::int64_t next_ = 1;
};

}  // namespace relay::runs
