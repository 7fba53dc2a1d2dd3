#include "runs/server_service.h"

namespace relay::runs {

io::Task<executors::HostReply> ServerService::call(executors::HostCall call) {
  const auto self = shared_from_this();
  if (!servers_) co_return failed_reply("NotFound", "there are no MCP servers in this run");
  RELAY_CO_TRY(std::string answer, co_await servers_->perform(std::move(call.op), std::move(call.args),
                                                              std::move(call.args_text)));
  co_return executors::HostReply{
      .result = nullptr, .body = {}, .failure = {}, .result_text = std::move(answer)};
}

}  // namespace relay::runs
