#include "peer/peer_questions.h"

namespace relay::peer {
namespace {

using protocol::RpcError;

RpcError unsupported(std::string_view what) {
  return {protocol::code::kMethodNotFound,
          "the client behind this request does not support " + std::string(what),
          {}};
}

std::optional<RpcError> refuse_elicitation(const Question& question,
                                           const protocol::ClientCapabilities& client) {
  const json::object* params = question.params.value().if_object();
  const auto mode = params ? json::find_string(*params, "mode").value_or("form") : "form";
  if (mode == "url") {
    if (!client.elicitation_url) return unsupported("elicitation by URL");
  } else if (!client.elicitation_form) {
    return unsupported("elicitation by form");
  }
  return std::nullopt;
}

std::optional<RpcError> refuse_sampling(const Question& question,
                                        const protocol::ClientCapabilities& client) {
  if (!client.sampling) return unsupported("sampling");
  const json::object* params = question.params.value().if_object();
  if (params && params->contains("tools") && !client.sampling_tools)
    return unsupported("sampling with tools");
  return std::nullopt;
}

}  // namespace

bool is_question(std::string_view method) {
  return method == "elicitation/create" || method == "sampling/createMessage" || method == "roots/list";
}

std::optional<RpcError> find_refusal(const Question& question, const protocol::ClientCapabilities& client) {
  if (question.method == "elicitation/create") return refuse_elicitation(question, client);
  if (question.method == "sampling/createMessage") return refuse_sampling(question, client);
  if (question.method == "roots/list" && !client.roots) return unsupported("roots");
  return std::nullopt;
}

}  // namespace relay::peer
