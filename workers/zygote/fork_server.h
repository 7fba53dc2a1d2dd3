// The zygote's life after boot: forks a child when relay asks, reaps children, says both on the control
// socket.
//
// It reads nothing that a guest wrote. It ends when relay closes the control socket, and since it is process
// 1 of its pid namespace, its children end with it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>

#include "base/json.h"
#include "base/result.h"
#include "oom_priority.h"

namespace relay::zygote {

class ForkServer {
 public:
  /// Runs in the child with the run socket, and never returns.
  using Serve = std::function<void(int socket)>;

  ForkServer(int control, const OomPriority& oom_priority, Serve serve)
      : control_(control), oom_priority_(oom_priority), serve_(std::move(serve)) {}

  /// Says `ready`, then serves until relay hangs up.
  Result<void> run(json::object ready);

 private:
  Result<bool> handle_request();
  Result<void> fork_child(std::int64_t id, int socket);
  Result<void> reap();
  Result<void> say(const json::object& message, int fd = -1);

  int control_;
  const OomPriority& oom_priority_;
  Serve serve_;
  std::map<pid_t, std::int64_t> children_;
};

}  // namespace relay::zygote
