#include "runs/host_service.h"

#include <utility>

namespace relay::runs {

executors::HostReply failed_reply(std::string type, std::string message, std::string errno_name) {
  return {.result = nullptr,
          .body = {},
          .failure = executors::HostFailure{std::move(type), std::move(message), std::move(errno_name)}};
}

std::string text_argument(const executors::HostCall& call, std::string_view name) {
  return std::string(json::find_string(call.args, name).value_or(""));
}

}  // namespace relay::runs
