// DisplayService: display() of a guest: images, sound and files that become content of the result. What it
// keeps is bounded by what the answer would hold (limits::kDisplayBytes). Loop thread only.
#pragma once

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "io/thread_pool.h"
#include "protocol/content.h"
#include "runs/host_service.h"
#include "vfs/tree.h"

namespace relay::runs {

class DisplayService final : public HostService {
 public:
  DisplayService(io::ThreadPool& pool, std::shared_ptr<vfs::Tree> tree)
      : pool_(pool), tree_(std::move(tree)) {}

  [[nodiscard]] bool handles(std::string_view op) const override { return op == "display"; }
  io::Task<executors::HostReply> call(executors::HostCall call) override;
  /// What display() was given, in order.
  [[nodiscard]] std::vector<protocol::Content> take_displayed() { return std::move(displayed_); }

 private:
  io::ThreadPool& pool_;
  std::shared_ptr<vfs::Tree> tree_;
  std::vector<protocol::Content> displayed_;
  std::size_t displayed_bytes_ = 0;  // as the answer holds them
};

}  // namespace relay::runs
