// The legacy era above any transport: what a session's requests, notifications and answers do.
#pragma once

#include <expected>
#include <memory>
#include <string>

#include "mcp/reply.h"
#include "mcp/server.h"
#include "mcp/session.h"
#include "protocol/jsonrpc.h"

namespace relay::mcp {

class LegacyDispatcher {
 public:
  explicit LegacyDispatcher(Server& server) : server_(server) {}

  /// The result of `initialize`; fills in what the session has to know about its client.
  std::expected<std::string, protocol::RpcError> initialize(Session& session,
                                                            const protocol::Request& request);
  /// Answers at once or later, through the reply.
  void handle(const std::shared_ptr<Session>& session, protocol::Request request,
              std::shared_ptr<Reply> reply);
  void notify(Session& session, const protocol::Notification& notification);

 private:
  using Answered = std::expected<std::string, protocol::RpcError>;
  Answered set_level(Session& session, const protocol::Request& request);
  Answered unsubscribe(Session& session, const protocol::Request& request);
  Answered get_task(Session& session, const protocol::Request& request);
  Answered list_tasks(Session& session);
  Answered cancel_task(Session& session, const protocol::Request& request);
  std::shared_ptr<TaskRecord> find_task(Session& session, const protocol::Request& request);
  std::optional<Answered> answer_at_once(Session& session, const protocol::Request& request);
  void call_tool(const std::shared_ptr<Session>& session, protocol::Request request,
                 std::shared_ptr<Reply> reply);

  Server& server_;
};

/// Releases what a session holds outside itself. Called when it ends.
void release(Server& server, Session& session);

}  // namespace relay::mcp
