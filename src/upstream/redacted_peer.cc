#include "upstream/redacted_peer.h"

namespace relay::upstream {
namespace {

using protocol::JsonText;
using secrets::AnswerRedaction;
using secrets::Redactor;

void redact(JsonText& text, const Redactor& redactor) {
  if (auto clean = redactor.find_redacted_json(text.text())) text = JsonText::trusted(std::move(*clean));
}

/// The caller's scope without the secrets that the server puts into it.
class RedactedScope final : public peer::RequestScope {
 public:
  RedactedScope(peer::RequestScope& scope, const Redactor& redactor) : scope_(scope), redactor_(redactor) {}

  [[nodiscard]] std::string_view session() const override { return scope_.session(); }
  [[nodiscard]] std::string_view principal() const override { return scope_.principal(); }
  [[nodiscard]] const protocol::ClientCapabilities& client() const override { return scope_.client(); }
  [[nodiscard]] std::optional<protocol::LogLevel> log_level() const override { return scope_.log_level(); }
  [[nodiscard]] bool asks_in_rounds() const override { return scope_.asks_in_rounds(); }
  void progress(double value, std::optional<double> total, std::string_view message) override {
    scope_.progress(value, total, redactor_.redact(message));
  }
  void log(protocol::LogLevel level, std::string_view logger, json::value data) override {
    redactor_.redact_strings(data);
    scope_.log(level, redactor_.redact(logger), std::move(data));
  }
  io::Task<std::vector<JsonText>> ask(std::vector<peer::Question> questions) override {
    for (peer::Question& question : questions) redact(question.params, redactor_);
    return scope_.ask(std::move(questions));
  }
  void cannot_answer(const peer::Question& question) override { scope_.cannot_answer(question); }
  void became_task() override { scope_.became_task(); }

 private:
  peer::RequestScope& scope_;
  const Redactor& redactor_;
};

void redact(protocol::RpcError& error, const Redactor& redactor) {
  error.message = redactor.redact(error.message);
  if (error.data) redactor.redact_strings(*error.data);
}

peer::PeerInfo redacted_info(peer::PeerInfo info, const Redactor& redactor) {
  if (redactor.answers() == AnswerRedaction::off) return info;
  info.instructions = redactor.redact(info.instructions);
  json::value server(std::move(info.server));
  redactor.redact_strings(server);
  info.server = std::move(server.get_object());
  return info;
}

}  // namespace

RedactedPeer::RedactedPeer(std::unique_ptr<peer::Peer> peer, std::shared_ptr<const Redactor> redactor)
    : peer_(std::move(peer)),
      redactor_(std::move(redactor)),
      info_(redacted_info(peer_->info(), *redactor_)) {}

io::Task<peer::PeerAnswer> RedactedPeer::request(peer::Outgoing outgoing, peer::RequestScope& exchange) {
  if (redactor_->answers() == AnswerRedaction::off)
    co_return co_await peer_->request(std::move(outgoing), exchange);
  const std::shared_ptr<const Redactor> redactor = redactor_;
  RedactedScope scope(exchange, *redactor);
  RELAY_CO_TRY(peer::PeerAnswer answer, co_await peer_->request(std::move(outgoing), scope));
  if (answer)
    redact(*answer, *redactor);
  else
    redact(answer.error(), *redactor);
  co_return answer;
}

void RedactedObserver::server_event(const protocol::ServerEvent& event) {
  const auto* line = std::get_if<protocol::LogLine>(&event);
  if (!line || redactor_->answers() == AnswerRedaction::off) return observer_.server_event(event);
  protocol::LogLine clean = *line;
  clean.logger = redactor_->redact(clean.logger);
  redactor_->redact_strings(clean.data);
  observer_.server_event(clean);
}

}  // namespace relay::upstream
