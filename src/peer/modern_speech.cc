#include "peer/modern_speech.h"

#include <algorithm>

#include "peer/peer_params.h"
#include "protocol/json_writer.h"
#include "protocol/modern_envelope.h"

namespace relay::peer {
namespace {

namespace meta = protocol::meta;

json::object extensions_of(const protocol::ClientCapabilities& client) {
  const json::object* declared = json::find_object(client.declared, "extensions");
  json::object extensions = declared ? *declared : json::object();
  extensions.erase(protocol::kTasksExtension);
  if (client.tasks) extensions[protocol::kTasksExtension] = json::object();
  return extensions;
}

std::string elicitation_of(const protocol::ClientCapabilities& client) {
  std::string out;
  protocol::ObjectWriter writer(out);
  if (client.elicitation_form) writer.raw("form", "{}");
  if (client.elicitation_url) writer.raw("url", "{}");
  writer.finish();
  return out;
}

}  // namespace

std::string describe_client(const protocol::ClientCapabilities& client) {
  std::string out;
  protocol::ObjectWriter writer(out);
  if (client.roots) writer.raw("roots", "{}");
  if (client.sampling) writer.raw("sampling", client.sampling_tools ? R"({"tools":{}})" : "{}");
  if (client.elicitation_form || client.elicitation_url) writer.raw("elicitation", elicitation_of(client));
  writer.object_if("extensions", extensions_of(client));
  writer.finish();
  return out;
}

bool is_passing_refusal(const protocol::Response& response) {
  if (response.outcome || response.outcome.error().code != protocol::code::kUnsupportedVersion ||
      !response.outcome.error().data)
    return false;
  const json::object* data = response.outcome.error().data->if_object();
  const json::array* supported = data ? json::find_array(*data, "supported") : nullptr;
  return supported && std::ranges::any_of(*supported, [](const json::value& version) {
           return version.is_string() &&
                  json::view(version.get_string()) == protocol::name_of(protocol::kLatestModern);
         });
}

ModernSpeech::ModernSpeech(const protocol::Implementation& self) {
  std::string out;
  protocol::ObjectWriter writer(out);
  writer.text(meta::kVersion, protocol::name_of(protocol::kLatestModern));
  append_json(writer.key(meta::kClientInfo), self, protocol::kLatestModern);
  writer.finish();
  who_ = members_of(out);
}

OutgoingMessage ModernSpeech::put(std::string_view method, std::string_view params,
                                  const RequestScope& exchange, const json::object& more) const {
  OutgoingMessage message{
      .method = method, .params = params, .meta = who_, .wants_progress = may_progress(method)};
  std::string& out = message.meta;
  out += ',';
  json::append_quoted(out, meta::kCapabilities);
  out += ':';
  out += describe_client(exchange.client());
  if (const auto level = exchange.log_level()) {
    out += ',';
    json::append_quoted(out, meta::kLogLevel);
    out += ':';
    json::append_quoted(out, protocol::name_of(*level));
  }
  if (!more.empty()) {
    out += ',';
    out += members_of(json::write(more));
  }
  return message;
}

}  // namespace relay::peer
