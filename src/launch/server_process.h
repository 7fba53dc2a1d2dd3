// ServerProcess: the child process of a stdio server. Its stderr is always drained, into the server's log;
// its whole process group ends with it; and it counts until it is reaped, whoever drops it.
#pragma once

#include <memory>
#include <string>

#include "io/child.h"
#include "launch/process_count.h"
#include "launch/server_log.h"

namespace relay::launch {

class ServerProcess {
 public:
  static Result<std::unique_ptr<ServerProcess>> start(const io::Loop& executor, const io::ChildSpec& spec,
                                                      std::shared_ptr<ServerLog> log,
                                                      const std::shared_ptr<ProcessCount>& heads);
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;
  ~ServerProcess();  // one that still runs is killed and reaped in the background

  [[nodiscard]] io::Child& child();
  /// "exited with code 3", once it has ended and stderr is read to its end; empty if that takes longer than
  /// limits::kUpstreamExitReport.
  io::Task<std::string> exit_report();
  /// End of stdin, SIGTERM, SIGKILL to the group; returns when it is reaped.
  io::Task<void> stop();

  struct Body;

 private:
  explicit ServerProcess(std::shared_ptr<Body> body) : body_(std::move(body)) {}
  std::shared_ptr<Body> body_;
};

}  // namespace relay::launch
