// ServedRequest: one request that a backend works on. It is the Context that handlers see, and what the
// dispatchers of both eras have in common; LegacyCall and ModernCall add how that era asks the client and how
// it writes a result.
//
// A call is kept alive by its coroutine. Its Reply may go away before it (a parked call, a task): what is
// sent then is dropped.
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "mcp/reply.h"
#include "mcp/result_members.h"
#include "mcp/server.h"
#include "mcp/tasks.h"
#include "serving/context.h"

namespace relay::mcp {

class ServedRequest : public serving::Context, public std::enable_shared_from_this<ServedRequest> {
 public:
  ServedRequest(Server& server, protocol::Request request, std::shared_ptr<Reply> reply);

  // Context
  [[nodiscard]] const json::object& meta() const final { return request_.meta(); }
  [[nodiscard]] std::shared_ptr<void> hold() final { return shared_from_this(); }
  void progress(double value, std::optional<double> total, std::string_view message) final;
  void log(protocol::LogLevel level, std::string_view logger, json::value data) final;
  void close_stream() final;
  void become_task() override;

  // For the dispatchers
  [[nodiscard]] Server& server() const { return server_; }
  [[nodiscard]] const protocol::Request& request() const { return request_; }
  /// Copies of it may outlive the call.
  [[nodiscard]] io::CancelSource cancellation() const { return cancel_; }
  /// Parameters that an operation moves out of.
  [[nodiscard]] json::object& params() { return request_.params; }
  void complete(std::expected<ResultMembers, protocol::RpcError> outcome);
  /// Whoever asked does not want to know any more.
  void end_without_answer();
  /// The tool that is called, set by the dispatcher when it is known.
  std::shared_ptr<const serving::FoundTool> tool;
  /// The call becomes a task; its reply gets the task instead of a result.
  Result<void> start_task(std::optional<std::chrono::milliseconds> ttl);

 protected:
  /// Cancels the call when the reply is abandoned. The constructor attaches the first reply.
  void attach(std::shared_ptr<Reply> reply, protocol::Id id, const json::object& meta);

  virtual std::string write_result(const ResultMembers& outcome) const = 0;
  virtual std::string write_created_task(const TaskRecord& task) const = 0;
  [[nodiscard]] virtual bool may_become_task() const = 0;
  [[nodiscard]] virtual int status_of(const protocol::RpcError& error) const = 0;

  Server& server_;
  protocol::Request request_;
  protocol::Id answer_id_;
  std::shared_ptr<Reply> reply_;
  io::CancelSource cancel_;
  std::shared_ptr<TaskRecord> task_;

 private:
  std::string progress_token_;  // JSON text; empty: the client does not want progress
  double last_progress_ = -std::numeric_limits<double>::infinity();
};

/// One method of the protocol that a backend answers: tools/call, prompts/list. Null for everything else.
using Operation = io::Task<ResultMembers> (*)(ServedRequest& call);
Operation find_operation(std::string_view method);

/// Runs the operation as its own coroutine, up to its first wait before this returns.
void start(std::shared_ptr<ServedRequest> call, Operation operation);

}  // namespace relay::mcp
