// What a server may ask of the client's side while a call runs: the user (elicitation), the model (sampling),
// the file roots. In legacy revisions each is a request of its own; in the modern one they are
// `inputRequests` of a result. The values are the same.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "protocol/capabilities.h"
#include "protocol/content.h"
#include "protocol/jsonrpc.h"
#include "protocol/tool.h"

namespace relay::protocol {

/// A form: the user fills in what the schema describes (one flat object of primitives).
struct ElicitForm {
  std::string message;
  JsonText requested_schema = JsonText::trusted(R"({"type":"object","properties":{}})");
};
/// A page to open: for secrets and payments, which must not pass through the model.
struct ElicitUrl {
  std::string message;
  std::string url;
  std::string id;  // elicitationId of 2025-11-25; made up when empty
};
struct SampleMessage {
  std::string role;
  std::vector<Content> content;
};
struct SampleRequest {
  std::vector<SampleMessage> messages;
  std::string system_prompt;
  std::int64_t max_tokens = 1024;
  std::optional<double> temperature;
  std::vector<std::string> stop_sequences;
  std::string include_context;  // "none", "thisServer", "allServers" or empty
  json::object model_preferences;
  std::vector<Tool> tools;  // needs the capability sampling.tools
  std::string tool_choice;  // "auto", "required", "none" or empty
  json::object metadata;
};
struct RootsRequest {};
/// A question from elsewhere, passed on as it was asked: an upstream server's. One of the three methods
/// above.
struct RawRequest {
  std::string method;
  JsonText params;
};

using InputRequest = std::variant<ElicitForm, ElicitUrl, SampleRequest, RootsRequest, RawRequest>;

/// One question of a round. The key names its answer on the wire in the modern era; empty: one is made up.
struct Ask {
  InputRequest request;
  std::string key;
};

enum class ElicitAction : std::uint8_t { accept, decline, cancel };
struct ElicitResult {
  ElicitAction action = ElicitAction::cancel;
  json::object content;  // what the user entered; only with accept
  [[nodiscard]] bool accepted() const { return action == ElicitAction::accept; }
};
struct SampleResult {
  std::string role;
  std::string model;
  std::string stop_reason;
  std::vector<json::object> content;  // blocks, as sent
  /// The text blocks, joined.
  [[nodiscard]] std::string text() const;
};
struct Root {
  std::string uri;
  std::string name;
};
struct RootsResult {
  std::vector<Root> roots;
};

/// The answer to a RawRequest: checked, and passed on as it was given.
struct RawResponse {
  json::value result;
};

using InputResponse = std::variant<ElicitResult, SampleResult, RootsResult, RawResponse>;

std::string_view name_of(ElicitAction action);
/// "elicitation/create", "sampling/createMessage" or "roots/list".
std::string_view method_of(const InputRequest& request);
/// The params of that method, as JSON text.
std::string params_of(const InputRequest& request, Revision revision);
/// What the client has to have declared; nothing when it has.
std::optional<json::object> missing_capability(const InputRequest& request, const ClientCapabilities& client);
/// The error of the modern era for such a question.
RpcError missing_capability_error(json::object required);
/// The answer, of the type that belongs to the request. A form's content is checked against its schema.
Result<InputResponse> parse_answer(const InputRequest& request, const json::value& answer);

}  // namespace relay::protocol
