#include "peer/modern_input.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "peer/peer_params.h"
#include "peer/peer_questions.h"
#include "protocol/json_writer.h"

namespace relay::peer {
namespace {

Result<Question> parse_question(const json::Member& member) {
  if (!member.text.starts_with('{'))
    return fail(unavailable("the server's inputRequests hold something that is no request"));
  Question question{.key = member.key, .method = text_member(member.text, "method"), .params = {}};
  if (const auto params = json::find_text(member.text, "params"))
    question.params = protocol::JsonText::trusted(std::string(*params));
  if (!is_question(question.method))
    return fail(unavailable("the server asks for something unknown: " + question.method));
  return question;
}

std::optional<std::string> find_refusing_answer(const Question& question) {
  if (question.method == "roots/list") return R"({"roots":[]})";
  if (question.method == "elicitation/create") return R"({"action":"cancel"})";
  return std::nullopt;
}

Result<void> add_question(InputRequests& to, Question question, RequestScope& scope) {
  const auto refusal = find_refusal(question, scope.client());
  if (!refusal) {
    to.questions.push_back(std::move(question));
    return {};
  }
  scope.cannot_answer(question);
  auto answer = find_refusing_answer(question);
  if (!answer) return fail(invalid(refusal->message));
  to.refused.emplace_back(std::move(question.key), *std::move(answer));
  return {};
}

}  // namespace

Result<InputRequests> parse_questions(std::string_view result, RequestScope& scope) {
  InputRequests parsed;
  const auto requests = json::find_text(result, "inputRequests");
  if (!requests || !requests->starts_with('{')) return parsed;
  for (const json::Member& member : json::split_object(*requests)) {
    if (parsed.questions.size() + parsed.refused.size() == limits::kUpstreamQuestions)
      return fail(unavailable(
          fmt::format("the server asks more than {} questions at once", limits::kUpstreamQuestions)));
    RELAY_TRY(Question question, parse_question(member));
    RELAY_CHECK(add_question(parsed, std::move(question), scope));
  }
  return parsed;
}

std::string write_responses(const InputRequests& requests, const std::vector<protocol::JsonText>& answers) {
  if (requests.empty()) return {};
  std::string out = R"("inputResponses":)";
  protocol::ObjectWriter writer(out);
  for (std::size_t i = 0; i < answers.size(); ++i) writer.raw(requests.questions[i].key, answers[i].text());
  for (const auto& [key, answer] : requests.refused) writer.raw(key, answer);
  writer.finish();
  return out;
}

io::Task<std::string> ask_for_responses(InputRequests requests, RequestScope& exchange) {
  if (requests.questions.empty()) co_return write_responses(requests, {});
  RELAY_CO_TRY(const auto answers, co_await exchange.ask(requests.questions));
  if (answers.size() != requests.questions.size()) co_return fail(internal("every question needs an answer"));
  co_return write_responses(requests, answers);
}

}  // namespace relay::peer
