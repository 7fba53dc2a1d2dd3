// The questions that stand in a modern result, and the answers that go back with the next try. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "peer/request_scope.h"
#include "protocol/capabilities.h"
#include "protocol/json_text.h"

namespace relay::peer {

/// The inputRequests of a result; none when it has none. Refused: more than limits::kUpstreamQuestions,
/// methods that are no questions, and what the other side did not declare.
Result<std::vector<Question>> parse_questions(std::string_view result,
                                              const protocol::ClientCapabilities& client);

/// "inputResponses":{...}; nothing without questions. Precondition: one answer a question.
std::string write_responses(const std::vector<Question>& questions,
                            const std::vector<protocol::JsonText>& answers);

/// Asks, and gives the member that write_responses makes.
io::Task<std::string> ask_for_responses(std::vector<Question> questions, RequestScope& exchange);

}  // namespace relay::peer
