// LegacyCall: a call within a session. When its tool asks something, a request of ours goes out on the stream
// of the call, and the client's answer comes back by whatever way the transport has.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "mcp/served_request.h"
#include "mcp/session.h"

namespace relay::mcp {

class LegacyCall final : public ServedRequest {
 public:
  LegacyCall(Server& server, std::shared_ptr<Session> session, protocol::Request request,
             std::shared_ptr<Reply> reply)
      : ServedRequest(server, std::move(request), std::move(reply)), session_(std::move(session)) {}

  [[nodiscard]] const authority::Caller& caller() const override { return session_->caller; }
  [[nodiscard]] protocol::Revision revision() const override { return session_->revision; }
  [[nodiscard]] const protocol::ClientCapabilities& client() const override { return session_->client; }
  [[nodiscard]] std::optional<protocol::LogLevel> log_level() const override { return session_->level; }
  io::Task<std::vector<protocol::InputResponse>> ask_all(std::vector<protocol::Ask> asks) override;

  [[nodiscard]] Session& session() const { return *session_; }
  /// For tasks/result: questions of the task go out here.
  [[nodiscard]] const std::shared_ptr<Reply>& reply() const { return reply_; }

 protected:
  [[nodiscard]] std::string write_result(const ResultMembers& outcome) const override {
    return write_legacy_result(outcome);
  }
  [[nodiscard]] std::string write_created_task(const TaskRecord& task) const override;
  [[nodiscard]] bool may_become_task() const override { return false; }  // the client says so in its request
  [[nodiscard]] int status_of(const protocol::RpcError&) const override { return 200; }

 private:
  Result<std::string> params_for(protocol::InputRequest& request);
  void name_elicitation(protocol::RawRequest& request);
  void send_ask(std::string message);

  std::shared_ptr<Session> session_;
};

/// {"io.modelcontextprotocol/related-task":{"taskId":...}} without the braces.
std::string related_task_member(std::string_view task_id);

}  // namespace relay::mcp
