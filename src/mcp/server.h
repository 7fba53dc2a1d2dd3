// Server: one MCP server, in both eras, above any transport.
//
// It outlives the loop's work: destroy it after the loop has run dry or stopped.
//
// A transport parses what it received into a protocol::Request, finds or makes the session it belongs to, and
// hands over both with a Reply to write the answer to. Server decides the rest. It owns the sessions,
// the parked calls, the listen streams and the tasks; app/ makes one and gives it to all transports.
//
//   Server server(executor, backend, clock, ids, {});
//   StreamableHttp http(server);                      // streamable_http.h: POST, GET, DELETE /mcp
//   co_await serve_stdio(server, in, out, caller);    // stdio.h
#pragma once

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/id_maker.h"
#include "base/limits.h"
#include "io/spawn.h"
#include "io/task.h"
#include "serving/backend.h"

namespace relay::mcp {

struct ServerOptions {
  std::chrono::milliseconds session_idle = limits::kSessionIdle;
  std::chrono::milliseconds parked_for = limits::kParkedFor;
  /// A line on stdio may be this long; a longer one is refused, and the lines after it are served.
  std::size_t line_bytes = limits::kLineBytes;
  /// Signs cursors and requestState, for all Relays that have the same. Empty: a random one, so that neither
  /// survives a restart.
  std::string state_key;
};

class SessionStore;
class OpenCalls;
class ParkedCalls;
class Subscriptions;
class TaskStore;
struct TaskRecord;

class Server final {
 public:
  Server(io::Loop executor, serving::Backend& backend, const Clock& clock, IdMaker ids,
         ServerOptions options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Signs cursors and states.
  [[nodiscard]] const std::string& state_key() const { return options_.state_key; }
  /// Our own introduction, as JSON text for modern results.
  [[nodiscard]] const std::string& server_info() const { return server_info_; }

  /// Cancels every call that runs; each is answered, and so is each that still comes: the server is stopping.
  /// Completes when all were answered, or fails after limits::kShutdownGrace. Then comes stop().
  io::Task<void> answer_all();
  /// Ends every session, listen stream, parked call and task. Transports are stopped by their owner.
  void stop();

  [[nodiscard]] io::Loop executor() const { return executor_; }
  [[nodiscard]] serving::Backend& backend() const { return backend_; }
  [[nodiscard]] const Clock& clock() const { return clock_; }
  [[nodiscard]] const IdMaker& ids() const { return ids_; }
  [[nodiscard]] const ServerOptions& options() const { return options_; }
  [[nodiscard]] const std::shared_ptr<OpenCalls>& open_calls() const { return open_calls_; }
  [[nodiscard]] SessionStore& sessions() { return *sessions_; }
  [[nodiscard]] ParkedCalls& parked() { return *parked_; }
  [[nodiscard]] Subscriptions& subscriptions() { return *subscriptions_; }
  [[nodiscard]] TaskStore& tasks() { return *tasks_; }

  /// Passes the backend's news on to every client that wants them. Bursts of list changes become one
  /// notification a turn of the loop.
  void tell_clients(const protocol::ServerEvent& event);

 private:
  void announce_later(protocol::ListKind list);
  void announce(protocol::ListKind list);
  void announce_update(const protocol::ResourceUpdated& update);
  void announce_log(const protocol::LogLine& line);
  void announce_task(const TaskRecord& task);

  io::Loop executor_;
  serving::Backend& backend_;
  const Clock& clock_;
  IdMaker ids_;
  ServerOptions options_;
  std::string server_info_;
  std::shared_ptr<OpenCalls> open_calls_;
  std::shared_ptr<SessionStore> sessions_;
  std::unique_ptr<ParkedCalls> parked_;
  std::unique_ptr<Subscriptions> subscriptions_;
  std::unique_ptr<TaskStore> tasks_;
  std::array<bool, 3> announcing_{};
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);  // posted work looks whether we still are
  io::CancelSource sweeping_;
};

}  // namespace relay::mcp
