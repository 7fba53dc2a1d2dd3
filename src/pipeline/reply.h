// What the pipeline must know of a reply, whatever kind it is: how to refuse, what to hash. How to bound it
// is in pipeline/bound.h.
//
// Tools answer a refusal with a result that the model reads; resources and prompts with an error. One
// overload set each, so that Pipeline::run is written once.
#pragma once

#include <string>

#include "authority/outcome.h"
#include "base/result.h"
#include "protocol/listing.h"
#include "protocol/tool.h"

namespace relay::pipeline {

/// A call that did not run, in the words of policy/grammar.h.
struct Refused {
  authority::Ending ending = authority::Ending::denied;
  std::string text;
};

template <class Reply>
Result<Reply> refuse(const Refused& refused);
template <>
Result<protocol::ToolResult> refuse(const Refused& refused);
template <>
Result<protocol::ReadResult> refuse(const Refused& refused);
template <>
Result<protocol::PromptResult> refuse(const Refused& refused);

/// Hash and length of what the client gets, and the exit code where there is one.
authority::Outcome outcome_of(const protocol::ToolResult& reply);
authority::Outcome outcome_of(const protocol::ReadResult& reply);
authority::Outcome outcome_of(const protocol::PromptResult& reply);

}  // namespace relay::pipeline
