#include "mcp/round.h"

#include <algorithm>

#include <fmt/format.h>

#include "protocol/json_writer.h"

namespace relay::mcp {

Round::Round(io::Loop executor, std::vector<protocol::Ask> asks)
    : asks_(std::move(asks)), answers_(asks_.size()), done_(std::move(executor)) {
  for (std::size_t i = 0; i < asks_.size(); ++i)
    if (asks_[i].key.empty()) asks_[i].key = fmt::format("input_{}", i + 1);
}

void Round::take(const json::object& responses) {
  for (std::size_t i = 0; i < asks_.size(); ++i) {
    const json::value* response = json::find(responses, asks_[i].key);
    if (!response || answers_[i]) continue;
    if (auto answer = protocol::parse_answer(asks_[i].request, *response)) answers_[i] = *std::move(answer);
  }
  if (is_complete()) done_.set();
}

bool Round::is_complete() const {
  return std::ranges::all_of(answers_, [](const auto& answer) { return answer.has_value(); });
}

std::string Round::write_open(protocol::Revision revision) const {
  std::string out;
  protocol::ObjectWriter writer(out);
  for (std::size_t i = 0; i < asks_.size(); ++i) {
    if (answers_[i]) continue;
    protocol::ObjectWriter request(writer.key(asks_[i].key));
    request.text("method", protocol::method_of(asks_[i].request));
    request.raw("params", protocol::params_of(asks_[i].request, revision));
    request.finish();
  }
  writer.finish();
  return out;
}

std::vector<protocol::InputResponse> Round::take_answers() {
  std::vector<protocol::InputResponse> taken;
  for (auto& answer : answers_) taken.push_back(*std::move(answer));
  return taken;
}

}  // namespace relay::mcp
