#include "runs/run_host.h"

#include <fmt/format.h>

#include "base/bytes.h"

namespace relay::runs {

io::Task<executors::HostReply> RunHost::call(executors::HostCall call, executors::HostStream&) {
  for (const std::shared_ptr<HostService>& service : services_)
    if (service->handles(call.op)) co_return co_await service->call(std::move(call));
  co_return failed_reply("ValidationError",
                         fmt::format("unknown operation \"{}\"", utf8_prefix(call.op, 64)));
}

}  // namespace relay::runs
