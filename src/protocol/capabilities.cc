#include "protocol/capabilities.h"

#include "protocol/json_writer.h"

namespace relay::protocol {
namespace {

std::string text_of(const json::object& members, std::string_view key) {
  return std::string(json::find_string(members, key).value_or(""));
}

// {"listChanged":true}, {} or with one more flag.
std::string feature(bool list_changes, bool subscribe = false) {
  std::string out;
  ObjectWriter writer(out);
  if (subscribe) writer.flag("subscribe", true);
  if (list_changes) writer.flag("listChanged", true);
  writer.finish();
  return out;
}

constexpr std::string_view kLegacyTasks = R"({"list":{},"cancel":{},"requests":{"tools":{"call":{}}}})";

json::object extensions_of(const ServerCapabilities& capabilities) {
  json::object extensions = capabilities.extensions;
  if (capabilities.tasks) extensions[kTasksExtension] = json::object{};
  return extensions;
}

}  // namespace

bool ClientCapabilities::has_extension(std::string_view name) const {
  const json::object* extensions = json::find_object(declared, "extensions");
  return extensions && json::find(*extensions, name) != nullptr;
}

Implementation parse_implementation(const json::object& object) {
  Implementation parsed;
  parsed.name = text_of(object, "name");
  parsed.title = text_of(object, "title");
  parsed.version = text_of(object, "version");
  parsed.description = text_of(object, "description");
  parsed.website = text_of(object, "websiteUrl");
  return parsed;
}

ClientCapabilities parse_client_capabilities(const json::object& object) {
  ClientCapabilities parsed;
  parsed.declared = object;
  parsed.roots = json::find_object(object, "roots") != nullptr;
  if (const json::object* sampling = json::find_object(object, "sampling")) {
    parsed.sampling = true;
    parsed.sampling_tools = json::find_object(*sampling, "tools") != nullptr;
  }
  if (const json::object* elicitation = json::find_object(object, "elicitation")) {
    parsed.elicitation_url = json::find_object(*elicitation, "url") != nullptr;
    // An empty object means forms, as it did before there was anything else.
    parsed.elicitation_form = !parsed.elicitation_url || json::find_object(*elicitation, "form") != nullptr;
  }
  parsed.tasks = parsed.has_extension(kTasksExtension);
  return parsed;
}

void append_json(std::string& out, const Implementation& implementation, Revision revision) {
  ObjectWriter writer(out);
  writer.text("name", implementation.name);
  if (revision >= Revision::v2025_06_18) writer.text_if("title", implementation.title);
  writer.text("version", implementation.version);
  if (revision >= Revision::v2025_11_25) {
    writer.text_if("description", implementation.description);
    writer.text_if("websiteUrl", implementation.website);
    if (!implementation.icons.empty())
      writer.array("icons", implementation.icons,
                   [](std::string& to, const Icon& icon) { append_json(to, icon); });
  }
  writer.finish();
}

void append_json(std::string& out, const ServerCapabilities& capabilities, Revision revision) {
  const bool changes = capabilities.list_changes;
  ObjectWriter writer(out);
  if (capabilities.tools) writer.raw("tools", feature(changes));
  if (capabilities.resources) writer.raw("resources", feature(changes, capabilities.resource_subscriptions));
  if (capabilities.prompts) writer.raw("prompts", feature(changes));
  if (capabilities.completions && revision >= Revision::v2025_03_26) writer.raw("completions", "{}");
  if (capabilities.logging) writer.raw("logging", "{}");
  if (capabilities.tasks && revision == Revision::v2025_11_25) writer.raw("tasks", kLegacyTasks);
  if (era_of(revision) == Era::modern) writer.object_if("extensions", extensions_of(capabilities));
  writer.object_if("experimental", capabilities.experimental);
  writer.finish();
}

}  // namespace relay::protocol
