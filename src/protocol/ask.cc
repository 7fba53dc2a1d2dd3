#include "protocol/ask.h"

#include <fmt/format.h>

#include "protocol/json_writer.h"
#include "protocol/schema.h"

namespace relay::protocol {
namespace {

template <class... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};

void append_sample_message(std::string& out, const SampleMessage& message, Revision revision) {
  ObjectWriter writer(out);
  writer.text("role", message.role);
  const auto append = [&](std::string& to, const Content& piece) { append_json(to, piece, revision); };
  // One block stands alone: revisions before 2025-11-25 know no arrays here.
  if (message.content.size() == 1) {
    append(writer.key("content"), message.content.front());
  } else {
    writer.array("content", message.content, append);
  }
  writer.finish();
}

std::string write_params(const ElicitForm& form, Revision revision) {
  std::string out;
  ObjectWriter writer(out);
  if (revision >= Revision::v2025_11_25) writer.text("mode", "form");
  writer.text("message", form.message);
  writer.raw("requestedSchema", form.requested_schema.text());
  writer.finish();
  return out;
}

std::string write_params(const ElicitUrl& page, Revision revision) {
  std::string out;
  ObjectWriter writer(out);
  writer.text("mode", "url");
  writer.text("message", page.message);
  writer.text("url", page.url);
  if (era_of(revision) == Era::legacy) writer.text("elicitationId", page.id);
  writer.finish();
  return out;
}

std::string write_params(const SampleRequest& request, Revision revision) {
  std::string out;
  ObjectWriter writer(out);
  writer.array("messages", request.messages, [&](std::string& to, const SampleMessage& message) {
    append_sample_message(to, message, revision);
  });
  writer.text_if("systemPrompt", request.system_prompt);
  writer.number("maxTokens", request.max_tokens);
  if (request.temperature) writer.number("temperature", *request.temperature);
  writer.texts_if("stopSequences", request.stop_sequences);
  writer.text_if("includeContext", request.include_context);
  writer.object_if("modelPreferences", request.model_preferences);
  if (!request.tools.empty())
    writer.array("tools", request.tools,
                 [&](std::string& to, const Tool& tool) { append_json(to, tool, revision); });
  if (!request.tool_choice.empty())
    writer.raw("toolChoice", R"({"mode":)" + json::quote(request.tool_choice) + "}");
  writer.object_if("metadata", request.metadata);
  writer.finish();
  return out;
}

std::string write_params(const RootsRequest&, Revision) {
  return "{}";
}

bool is_url_mode(const json::object& params) {
  return json::find_string(params, "mode") == "url";
}

// The eras spell an elicitation a little differently.
bool is_of_another_revision(std::string_view key, Revision revision) {
  if (key == "mode") return revision < Revision::v2025_11_25;
  return key == "elicitationId" && era_of(revision) == Era::modern;
}

std::string write_params(const RawRequest& request, Revision revision) {
  std::string out;
  ObjectWriter writer(out);
  for (const json::Member& member : json::split_object(request.params.text()))
    if (!is_of_another_revision(member.key, revision)) writer.raw(member.key, member.text);
  writer.finish();
  return out;
}

Result<InputResponse> parse_elicit(const json::object& answer, const ElicitForm* form) {
  const auto action = json::find_string(answer, "action");
  ElicitResult result;
  if (action == "accept") {
    result.action = ElicitAction::accept;
  } else if (action == "decline") {
    result.action = ElicitAction::decline;
  } else if (action != "cancel") {
    return fail(invalid("an elicitation answer has the action accept, decline or cancel"));
  }
  if (!result.accepted()) return result;
  if (const json::value* content = json::find(answer, "content")) {
    if (!content->is_object()) return fail(invalid("the content of an elicitation answer is an object"));
    result.content = content->get_object();
  }
  if (!form) return result;
  RELAY_TRY(const Schema schema, Schema::compile(form->requested_schema.value()));
  if (const auto problems = schema.check(result.content); !problems.empty())
    return fail(invalid("the answer does not fit the form: " + describe(problems)));
  return result;
}

Result<InputResponse> parse_sample(const json::object& answer) {
  SampleResult result;
  const json::value* content = json::find(answer, "content");
  const auto role = json::find_string(answer, "role");
  if (!role || !content) return fail(invalid("a sampling answer has a role and content"));
  result.role = *role;
  result.model = json::find_string(answer, "model").value_or("");
  result.stop_reason = json::find_string(answer, "stopReason").value_or("");
  if (const json::object* block = content->if_object()) {
    result.content.push_back(*block);
    return result;
  }
  const json::array* blocks = content->if_array();
  if (!blocks) return fail(invalid("the content of a sampling answer is a block or an array of blocks"));
  for (const json::value& block : *blocks) {
    if (!block.is_object()) return fail(invalid("a content block is an object"));
    result.content.push_back(block.get_object());
  }
  return result;
}

Result<InputResponse> parse_roots(const json::object& answer) {
  const json::array* roots = json::find_array(answer, "roots");
  if (!roots) return fail(invalid("a roots answer has an array of roots"));
  RootsResult result;
  for (const json::value& root : *roots) {
    const auto uri = root.is_object() ? json::find_string(root.get_object(), "uri") : std::nullopt;
    if (!uri) return fail(invalid("a root is an object with a uri"));
    result.roots.push_back(
        {std::string(*uri), std::string(json::find_string(root.get_object(), "name").value_or(""))});
  }
  return result;
}

}  // namespace

std::string SampleResult::text() const {
  std::string joined;
  for (const json::object& block : content)
    if (const auto text = json::find_string(block, "text")) joined += *text;
  return joined;
}

std::string_view name_of(ElicitAction action) {
  switch (action) {
    case ElicitAction::accept: return "accept";
    case ElicitAction::decline: return "decline";
    case ElicitAction::cancel: return "cancel";
  }
  return "cancel";
}

std::string_view method_of(const InputRequest& request) {
  return std::visit(
      Overloaded{[](const ElicitForm&) { return std::string_view("elicitation/create"); },
                 [](const ElicitUrl&) { return std::string_view("elicitation/create"); },
                 [](const SampleRequest&) { return std::string_view("sampling/createMessage"); },
                 [](const RootsRequest&) { return std::string_view("roots/list"); },
                 [](const RawRequest& raw) { return std::string_view(raw.method); }},
      request);
}

std::string params_of(const InputRequest& request, Revision revision) {
  return std::visit([&](const auto& kind) { return write_params(kind, revision); }, request);
}

namespace {

std::optional<json::object> need(bool has, json::object needed) {
  return has ? std::nullopt : std::optional(std::move(needed));
}
std::optional<json::object> need_form(const ClientCapabilities& client) {
  return need(client.elicitation_form, {{"elicitation", json::object{}}});
}
std::optional<json::object> need_url(const ClientCapabilities& client) {
  return need(client.elicitation_url, {{"elicitation", json::object{{"url", json::object{}}}}});
}
std::optional<json::object> need_sampling(const ClientCapabilities& client, bool with_tools) {
  if (!with_tools) return need(client.sampling, {{"sampling", json::object{}}});
  return need(client.sampling_tools, {{"sampling", json::object{{"tools", json::object{}}}}});
}
std::optional<json::object> need_roots(const ClientCapabilities& client) {
  return need(client.roots, {{"roots", json::object{}}});
}

const json::object& members_of(const RawRequest& request) {
  const json::object* members = request.params.value().if_object();
  return members ? *members : json::empty_object();
}

std::optional<json::object> need_for(const RawRequest& request, const ClientCapabilities& client) {
  const json::object& params = members_of(request);
  if (request.method == "roots/list") return need_roots(client);
  if (request.method == "sampling/createMessage") return need_sampling(client, params.contains("tools"));
  return is_url_mode(params) ? need_url(client) : need_form(client);
}

Result<InputResponse> parse_raw(const RawRequest& request, const json::object& answer) {
  Result<InputResponse> checked = fail(invalid(fmt::format("nobody knows how to answer {}", request.method)));
  if (request.method == "roots/list") checked = parse_roots(answer);
  if (request.method == "sampling/createMessage") checked = parse_sample(answer);
  if (request.method == "elicitation/create")
    checked = parse_elicit(answer, nullptr);  // the form is its owner's to check
  if (!checked) return checked;
  return RawResponse{json::value(answer)};
}

}  // namespace

std::optional<json::object> missing_capability(const InputRequest& request,
                                               const ClientCapabilities& client) {
  return std::visit(
      Overloaded{[&](const ElicitForm&) { return need_form(client); },
                 [&](const ElicitUrl&) { return need_url(client); },
                 [&](const SampleRequest& sample) { return need_sampling(client, !sample.tools.empty()); },
                 [&](const RootsRequest&) { return need_roots(client); },
                 [&](const RawRequest& raw) { return need_for(raw, client); }},
      request);
}

RpcError missing_capability_error(json::object required) {
  return {code::kMissingCapability, "the client did not declare a capability that this request needs",
          json::object{{"requiredCapabilities", std::move(required)}}};
}

Result<InputResponse> parse_answer(const InputRequest& request, const json::value& answer) {
  const json::object* members = answer.if_object();
  if (!members) return fail(invalid(fmt::format("the answer to {} is an object", method_of(request))));
  return std::visit(Overloaded{[&](const ElicitForm& form) { return parse_elicit(*members, &form); },
                               [&](const ElicitUrl&) { return parse_elicit(*members, nullptr); },
                               [&](const SampleRequest&) { return parse_sample(*members); },
                               [&](const RootsRequest&) { return parse_roots(*members); },
                               [&](const RawRequest& raw) { return parse_raw(raw, *members); }},
                    request);
}

}  // namespace relay::protocol
