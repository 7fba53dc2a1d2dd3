// RequestScope: our side of one request to an upstream server while it is open. Whoever makes the request
// implements it: the gateway with the client's call behind it, a run with its guest, a command with a
// terminal.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/task.h"
#include "protocol/capabilities.h"
#include "protocol/json_text.h"
#include "protocol/log_level.h"

namespace relay::peer {

/// Something the server wants from our side: elicitation/create, sampling/createMessage, roots/list. As it
/// was sent.
struct Question {
  std::string key;  // of inputRequests in the modern era; empty in the legacy one
  std::string method;
  protocol::JsonText params;
};

class RequestScope {
 public:
  RequestScope() = default;
  RequestScope(const RequestScope&) = delete;
  RequestScope& operator=(const RequestScope&) = delete;
  virtual ~RequestScope() = default;

  /// Who asks: exchanges of one session may share a connection's questions, those of different ones never.
  [[nodiscard]] virtual std::string_view session() const = 0;
  /// On whose behalf. A question is never put to another principal than the one whose request raised it.
  [[nodiscard]] virtual std::string_view principal() const { return session(); }
  /// What our side can answer. A modern server is told exactly this.
  [[nodiscard]] virtual const protocol::ClientCapabilities& client() const = 0;
  /// Nothing: no log messages wanted.
  [[nodiscard]] virtual std::optional<protocol::LogLevel> log_level() const = 0;

  virtual void progress(double value, std::optional<double> total, std::string_view message) = 0;
  virtual void log(protocol::LogLevel level, std::string_view logger, json::value data) = 0;
  /// True when our side is asked for everything at once and answers it at once; otherwise questions may be
  /// put to it while others are open.
  [[nodiscard]] virtual bool asks_in_rounds() const { return false; }
  /// The answers are results, in the order of the questions. An Error means that our side does not answer.
  virtual io::Task<std::vector<protocol::JsonText>> ask(std::vector<Question> questions) = 0;
  /// The server asked something that our side did not declare to answer; it was told so.
  virtual void cannot_answer(const Question& question) { (void)question; }
  /// The server made a task of the request; the answer is its result, later.
  virtual void became_task() = 0;
};

/// Nobody to ask, nobody who listens: for lists and probes.
class SilentScope final : public RequestScope {
 public:
  [[nodiscard]] std::string_view session() const override { return {}; }
  [[nodiscard]] const protocol::ClientCapabilities& client() const override { return none_; }
  [[nodiscard]] std::optional<protocol::LogLevel> log_level() const override { return {}; }
  void progress(double, std::optional<double>, std::string_view) override {}
  void log(protocol::LogLevel, std::string_view, json::value) override {}
  io::Task<std::vector<protocol::JsonText>> ask(std::vector<Question>) override {
    co_return fail(unavailable("nobody is there to be asked"));
  }
  void became_task() override {}

 private:
  protocol::ClientCapabilities none_;
};

}  // namespace relay::peer
