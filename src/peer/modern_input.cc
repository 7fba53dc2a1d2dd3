#include "peer/modern_input.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "peer/peer_params.h"
#include "peer/peer_questions.h"
#include "protocol/json_writer.h"

namespace relay::peer {
namespace {

Result<Question> parse_question(const json::Member& member, const protocol::ClientCapabilities& client) {
  if (!member.text.starts_with('{'))
    return fail(unavailable("the server's inputRequests hold something that is no request"));
  Question question{.key = member.key, .method = text_member(member.text, "method"), .params = {}};
  if (const auto params = json::find_text(member.text, "params"))
    question.params = protocol::JsonText::trusted(std::string(*params));
  if (!is_question(question.method))
    return fail(unavailable("the server asks for something unknown: " + question.method));
  if (const auto refusal = find_refusal(question, client)) return fail(invalid(refusal->message));
  return question;
}

}  // namespace

Result<std::vector<Question>> parse_questions(std::string_view result,
                                              const protocol::ClientCapabilities& client) {
  std::vector<Question> questions;
  const auto requests = json::find_text(result, "inputRequests");
  if (!requests || !requests->starts_with('{')) return questions;
  for (const json::Member& member : json::split_object(*requests)) {
    if (questions.size() == limits::kUpstreamQuestions)
      return fail(unavailable(
          fmt::format("the server asks more than {} questions at once", limits::kUpstreamQuestions)));
    RELAY_TRY(Question question, parse_question(member, client));
    questions.push_back(std::move(question));
  }
  return questions;
}

std::string write_responses(const std::vector<Question>& questions,
                            const std::vector<protocol::JsonText>& answers) {
  if (questions.empty()) return {};
  std::string out = R"("inputResponses":)";
  protocol::ObjectWriter writer(out);
  for (std::size_t i = 0; i < questions.size(); ++i) writer.raw(questions[i].key, answers[i].text());
  writer.finish();
  return out;
}

io::Task<std::string> ask_for_responses(std::vector<Question> questions, RequestScope& exchange) {
  if (questions.empty()) co_return std::string();
  RELAY_CO_TRY(const auto answers, co_await exchange.ask(questions));
  if (answers.size() != questions.size()) co_return fail(internal("every question needs an answer"));
  co_return write_responses(questions, answers);
}

}  // namespace relay::peer
