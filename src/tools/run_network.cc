#include "tools/run_network.h"

#include <fmt/format.h>

namespace relay::tools {

io::Task<executors::HostReply> GuardedNetwork::fetch(executors::HostCall call, executors::HostStream&) {
  RELAY_CO_TRY(fetch::FetchRequest request, fetch::parse_fetch_request(call.args, std::move(call.body)));
  RELAY_CO_TRY(std::unique_ptr<fetch::FetchResponse> response, co_await fetch_->send(std::move(request)));
  executors::HostReply reply;
  reply.result = fetch::reply_value(response->head());
  RELAY_CO_TRY(reply.body, co_await response->read_rest());
  co_return reply;
}

io::Task<std::string> GuardedNetwork::fetch_bytes(std::string url) {
  fetch::FetchRequest request;
  request.url = url;
  RELAY_CO_TRY(std::unique_ptr<fetch::FetchResponse> response, co_await fetch_->send(std::move(request)));
  if (response->head().status != 200) co_return fail(unavailable(fmt::format("{} answered {}", url, response->head().status)));
  co_return co_await response->read_rest();
}

}  // namespace relay::tools
