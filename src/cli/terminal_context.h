// TerminalContext: the Context of a call that a person makes from the command line. Progress and log lines go
// to stderr, questions to the terminal; without a terminal nobody answers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "serving/context.h"

namespace relay::cli {

/// yes: what has to be confirmed is confirmed without asking.
enum class Confirmation : std::uint8_t { ask, yes };

/// A command that ends cannot wait for an approval; it has --yes, and a refusal that asks for a confirmation
/// says so instead.
void say_how_to_confirm(protocol::ToolResult& result);

class TerminalContext final : public serving::Context {
 public:
  explicit TerminalContext(Confirmation confirmation);

  [[nodiscard]] const authority::Caller& caller() const override { return caller_; }
  [[nodiscard]] protocol::Revision revision() const override { return protocol::kLatestModern; }
  [[nodiscard]] const protocol::ClientCapabilities& client() const override { return client_; }
  [[nodiscard]] std::optional<protocol::LogLevel> log_level() const override {
    return protocol::LogLevel::warning;
  }
  void progress(double value, std::optional<double> total, std::string_view message) override;
  void log(protocol::LogLevel level, std::string_view logger, json::value data) override;
  io::Task<std::vector<protocol::InputResponse>> ask_all(std::vector<protocol::Ask> asks) override;

 private:
  [[nodiscard]] Result<protocol::InputResponse> answer(const protocol::InputRequest& request) const;

  Confirmation confirmation_;
  bool has_terminal_;
  authority::Caller caller_;
  protocol::ClientCapabilities client_;
};

}  // namespace relay::cli
