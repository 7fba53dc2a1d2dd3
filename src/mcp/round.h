// Round: questions to the client's side that wait for answers together.
//
// In the modern era a round is one `input_required` result, or the open input requests of a task. Answers are
// taken as they fit; what is missing or of the wrong type stays open and is asked again.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "io/event.h"
#include "protocol/ask.h"

namespace relay::mcp {

class Round {
 public:
  /// Makes up the keys that are empty: "input_1", "input_2".
  Round(io::Loop executor, std::vector<protocol::Ask> asks);

  void take(const json::object& responses);
  [[nodiscard]] bool is_complete() const;
  /// {"key":{"method":...,"params":...}} of what is still open.
  [[nodiscard]] std::string write_open(protocol::Revision revision) const;
  /// Precondition: complete.
  std::vector<protocol::InputResponse> take_answers();
  [[nodiscard]] io::Event& done() { return done_; }

 private:
  std::vector<protocol::Ask> asks_;
  std::vector<std::optional<protocol::InputResponse>> answers_;
  io::Event done_;
};

}  // namespace relay::mcp
