// ModernCall: a call of the stateless era. When its tool asks something, the current request is answered with
// `input_required` and the coroutine stays where it is; the client's next request resumes it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "mcp/round.h"
#include "mcp/served_request.h"
#include "protocol/modern_envelope.h"

namespace relay::mcp {

class ModernCall final : public ServedRequest {
 public:
  ModernCall(Server& server, authority::Caller caller, protocol::ModernEnvelope envelope,
             protocol::Request request, std::shared_ptr<Reply> reply);

  [[nodiscard]] const authority::Caller& caller() const override { return caller_; }
  [[nodiscard]] protocol::Revision revision() const override { return protocol::kLatestModern; }
  [[nodiscard]] const protocol::ClientCapabilities& client() const override { return envelope_.client; }
  [[nodiscard]] std::optional<protocol::LogLevel> log_level() const override { return envelope_.log_level; }
  io::Task<std::vector<protocol::InputResponse>> ask_all(std::vector<protocol::Ask> asks) override;

  /// The client came back: `round` is the one its state names. False when that round is over.
  bool resume(int round, const protocol::Request& retry, protocol::ModernEnvelope envelope,
              std::shared_ptr<Reply> reply);

 protected:
  [[nodiscard]] std::string write_result(const ResultMembers& outcome) const override;
  [[nodiscard]] std::string write_created_task(const TaskRecord& task) const override;
  [[nodiscard]] bool may_become_task() const override { return envelope_.client.tasks; }
  [[nodiscard]] int status_of(const protocol::RpcError& error) const override;

 private:
  io::Task<std::vector<protocol::InputResponse>> ask_in_round(std::vector<protocol::Ask> asks);
  io::Task<std::vector<protocol::InputResponse>> ask_in_task(std::vector<protocol::Ask> asks);
  Result<void> park();
  void send_input_required();

  authority::Caller caller_;
  protocol::ModernEnvelope envelope_;
  std::string parked_id_;  // made when it parks for the first time
  std::shared_ptr<Round> round_;
  int rounds_ = 0;
};

}  // namespace relay::mcp
