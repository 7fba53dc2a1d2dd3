#include "gateway/context_exchange.h"

#include <fmt/format.h>

namespace relay::gateway {
namespace {

// Stateless clients have no session; calls of one program on one machine under one name count as one.
std::string session_of(const authority::Caller& caller) {
  if (!caller.session_id.empty()) return caller.session_id;
  return fmt::format("{}|{}|{}|{}", caller.principal, authority::name_of(caller.transport), caller.remote,
                     caller.client_name);
}

}  // namespace

protocol::JsonText name_asker(const protocol::JsonText& params, std::string_view server) {
  const json::object* members = params.value().if_object();
  const auto message = members ? json::find_string(*members, "message") : std::nullopt;
  if (!message || server.empty()) return params;
  std::string named;
  protocol::append_with_text(named, params, "message", fmt::format("[{}] {}", server, *message));
  return protocol::JsonText::trusted(std::move(named));
}

std::string logger_name(std::string_view server, std::string_view logger) {
  if (server.empty()) return std::string(logger);
  return logger.empty() ? std::string(server) : fmt::format("{}/{}", server, logger);
}

ContextExchange::ContextExchange(serving::Context& context, const authority::Caller& caller,
                                 std::string server)
    : context_(context),
      server_(std::move(server)),
      session_(session_of(caller)),
      principal_(caller.principal) {}

void ContextExchange::progress(double value, std::optional<double> total, std::string_view message) {
  context_.progress(value, total, message);
}

void ContextExchange::log(protocol::LogLevel level, std::string_view logger, json::value data) {
  context_.log(level, logger_name(server_, logger), std::move(data));
}

void ContextExchange::cannot_answer(const peer::Question& question) {
  missing_ =
      protocol::missing_capability(protocol::RawRequest{question.method, question.params}, context_.client());
}

io::Task<std::vector<protocol::JsonText>> ContextExchange::ask(std::vector<peer::Question> questions) {
  std::vector<protocol::Ask> asks;
  for (peer::Question& question : questions) {
    protocol::RawRequest request{std::move(question.method), name_asker(question.params, server_)};
    asks.push_back({std::move(request), std::move(question.key)});
  }
  RELAY_CO_TRY(auto answers, co_await context_.ask_all(std::move(asks)));
  std::vector<protocol::JsonText> results;
  for (const protocol::InputResponse& answer : answers) {
    const auto* raw = std::get_if<protocol::RawResponse>(&answer);
    if (!raw) co_return fail(internal("an answer of another kind than the question"));
    results.push_back(protocol::JsonText::from(raw->result));
  }
  co_return results;
}

}  // namespace relay::gateway
