// ContextExchange: the client's call, as an upstream server sees it. Progress and logs go to the client that
// called; questions of the server become questions to that client, whatever era each of them speaks.
#pragma once

#include <string>
#include <vector>

#include "peer/request_scope.h"
#include "serving/context.h"

namespace relay::gateway {

class ContextExchange final : public peer::RequestScope {
 public:
  /// `server` stands in front of what the user is asked, so that people see who asks; empty: nothing does.
  /// `caller` is the one of the record, or of the permission to do without.
  ContextExchange(serving::Context& context, const authority::Caller& caller, std::string server);

  [[nodiscard]] std::string_view session() const override { return session_; }
  [[nodiscard]] std::string_view principal() const override { return principal_; }
  [[nodiscard]] const protocol::ClientCapabilities& client() const override { return context_.client(); }
  [[nodiscard]] std::optional<protocol::LogLevel> log_level() const override { return context_.log_level(); }
  [[nodiscard]] bool asks_in_rounds() const override {
    return protocol::era_of(context_.revision()) == protocol::Era::modern;
  }
  void progress(double value, std::optional<double> total, std::string_view message) override;
  void log(protocol::LogLevel level, std::string_view logger, json::value data) override;
  io::Task<std::vector<protocol::JsonText>> ask(std::vector<peer::Question> questions) override;
  void cannot_answer(const peer::Question& question) override;
  void became_task() override { context_.become_task(); }

  /// What the client would have to declare for the server to get its answers; nothing when it got them all.
  [[nodiscard]] const std::optional<json::object>& missing() const { return missing_; }

 private:
  serving::Context& context_;
  std::string server_;
  std::string session_;
  std::string principal_;
  std::optional<json::object> missing_;
};

/// {"message":"Sure?"} -> {"message":"[files] Sure?"}; everything else stays as it was.
protocol::JsonText name_asker(const protocol::JsonText& params, std::string_view server);
/// "files", "files/disk".
std::string logger_name(std::string_view server, std::string_view logger);

}  // namespace relay::gateway
