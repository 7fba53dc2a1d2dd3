// ServerProcess: a process that was launched, with what belongs to it. Its stderr is always drained, into its
// log; what it started ends with it (see Launch for how much of that); the limits of a cage that it runs into
// are noted; and it counts until it is reaped, whoever drops it.
#pragma once

#include <memory>
#include <string>

#include "io/child.h"
#include "launch/process_count.h"
#include "launch/process_launch.h"
#include "launch/server_log.h"

namespace relay::launch {

class ServerProcess {
 public:
  static Result<std::unique_ptr<ServerProcess>> start(const io::Loop& executor, Launch launch,
                                                      std::shared_ptr<ServerLog> log,
                                                      const std::shared_ptr<ProcessCount>& heads);
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;
  ~ServerProcess();  // one that still runs is killed and reaped in the background

  [[nodiscard]] io::Child& child();
  /// What holds the limits of its cage; nothing without one.
  [[nodiscard]] const std::optional<sandbox::CageStanding>& standing() const;
  /// "exited with code 3", "was killed: memory limit of 2048 MB", once it has ended and stderr is read to its
  /// end; empty if that takes longer than limits::kUpstreamExitReport.
  io::Task<std::string> exit_report();
  /// End of stdin, SIGTERM, then what ends all of it for good; returns when it is reaped.
  io::Task<void> stop();

  struct Body;

 private:
  explicit ServerProcess(std::shared_ptr<Body> body) : body_(std::move(body)) {}
  std::shared_ptr<Body> body_;
};

}  // namespace relay::launch
