// InputService: more standard input for a guest that has read what came with the run. Loop thread only; the
// reading blocks, on the pool.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "io/thread_pool.h"
#include "runs/host_service.h"

namespace relay::runs {

class InputService final : public HostService {
 public:
  /// `read` gives the next piece, "" at the end. It may be empty: then the input ends with what came with the
  /// run.
  InputService(io::ThreadPool& pool, std::function<Result<std::string>()> read)
      : pool_(pool), read_(std::move(read)) {}

  [[nodiscard]] bool handles(std::string_view op) const override { return op == "input"; }
  io::Task<executors::HostReply> call(executors::HostCall call) override;

 private:
  io::ThreadPool& pool_;
  std::function<Result<std::string>()> read_;
};

}  // namespace relay::runs
