// The questions that stand in a modern result, and the answers that go back with the next try. Pure.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "peer/request_scope.h"
#include "protocol/json_text.h"

namespace relay::peer {

/// What a modern result asks for.
struct InputRequests {
  std::vector<Question> questions;  // that our side declared to answer
  /// The others, with the answer that says no in the server's terms: an empty list of roots, a form that was
  /// closed.
  std::vector<std::pair<std::string, std::string>> refused;  // key, JSON text
  [[nodiscard]] bool empty() const { return questions.empty() && refused.empty(); }
};

/// The inputRequests of a result; none when it has none. Refused: more than limits::kUpstreamQuestions,
/// methods that are no questions, and a sample that our side did not declare, which has no answer that says
/// no. `scope` is told of what it cannot answer.
Result<InputRequests> parse_questions(std::string_view result, RequestScope& scope);

/// "inputResponses":{...}; nothing without questions. Precondition: one answer a question.
std::string write_responses(const InputRequests& requests, const std::vector<protocol::JsonText>& answers);

/// Asks, and gives the member that write_responses makes.
io::Task<std::string> ask_for_responses(InputRequests requests, RequestScope& exchange);

}  // namespace relay::peer
