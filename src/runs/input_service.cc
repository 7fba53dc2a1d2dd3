#include "runs/input_service.h"

namespace relay::runs {

io::Task<executors::HostReply> InputService::call(executors::HostCall) {
  const auto self = shared_from_this();
  std::string piece;
  if (read_) {
    RELAY_CO_TRY(piece, co_await pool_.run(read_));
  }
  json::object result{{"eof", piece.empty()}};
  co_return executors::HostReply{.result = std::move(result), .body = std::move(piece), .failure = {}};
}

}  // namespace relay::runs
