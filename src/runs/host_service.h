// HostService: one kind of thing that a guest can ask of relay: files, the network, upstream servers. A run
// has a list of them (RunHost). A guest elsewhere, in a browser tab or as a hosted server, has the same
// services or fewer.
//
// Nothing that the guest says is believed. Loop thread only; blocking work goes to a pool. A service lives as
// long as anything of the run does: a call that is still on a pool thread when the run ends finds it alive.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "executors/run.h"

namespace relay::runs {

class HostService : public std::enable_shared_from_this<HostService> {
 public:
  virtual ~HostService() = default;
  /// Whether calls with this operation ("fs.read", "fetch") are its.
  [[nodiscard]] virtual bool handles(std::string_view op) const = 0;
  /// A failure that the guest sees is in the reply; an Error becomes one with the error's type.
  virtual io::Task<executors::HostReply> call(executors::HostCall call) = 0;
};

/// A reply that is a failure. `errno_name` ("ENOENT") is for file operations.
executors::HostReply failed_reply(std::string type, std::string message, std::string errno_name = {});
/// The member of the arguments as text, empty when there is none.
std::string text_argument(const executors::HostCall& call, std::string_view name);

}  // namespace relay::runs
