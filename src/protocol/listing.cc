#include "protocol/listing.h"

#include <fmt/format.h>

#include "base/limits.h"
#include "protocol/json_writer.h"

namespace relay::protocol {
namespace {

void append_argument(std::string& out, const PromptArgument& argument, Revision revision) {
  ObjectWriter writer(out);
  writer.text("name", argument.name);
  if (revision >= Revision::v2025_06_18) writer.text_if("title", argument.title);
  writer.text_if("description", argument.description);
  writer.flag("required", argument.required);
  writer.finish();
}

void append_message(std::string& out, const PromptMessage& message, Revision revision) {
  ObjectWriter writer(out);
  writer.text("role", message.role);
  append_json(writer.key("content"), message.content, revision);
  writer.finish();
}

void write_icons(ObjectWriter& writer, const std::vector<Icon>& icons, Revision revision) {
  if (revision < Revision::v2025_11_25 || icons.empty()) return;
  writer.array("icons", icons, [](std::string& out, const Icon& icon) { append_json(out, icon); });
}

}  // namespace

void append_json(std::string& out, const ResourceTemplate& item, Revision revision) {
  if (item.raw) return append_with_text(out, *item.raw, "uriTemplate", item.uri_template);
  ObjectWriter writer(out);
  writer.text("uriTemplate", item.uri_template);
  writer.text("name", item.name);
  if (revision >= Revision::v2025_06_18) writer.text_if("title", item.title);
  writer.text_if("description", item.description);
  writer.text_if("mimeType", item.mime_type);
  if (!item.annotations.empty()) append_json(writer.key("annotations"), item.annotations);
  write_icons(writer, item.icons, revision);
  writer.object_if("_meta", item.meta);
  writer.finish();
}

void append_json(std::string& out, const Prompt& item, Revision revision) {
  if (item.raw) return append_with_text(out, *item.raw, "name", item.name);
  ObjectWriter writer(out);
  writer.text("name", item.name);
  if (revision >= Revision::v2025_06_18) writer.text_if("title", item.title);
  writer.text_if("description", item.description);
  if (!item.arguments.empty())
    writer.array("arguments", item.arguments, [&](std::string& to, const PromptArgument& argument) {
      append_argument(to, argument, revision);
    });
  write_icons(writer, item.icons, revision);
  writer.object_if("_meta", item.meta);
  writer.finish();
}

void append_members(std::string& out, const PromptResult& result, Revision revision) {
  if (!result.description.empty()) {
    out += R"("description":)";
    json::append_quoted(out, result.description);
    out += ',';
  }
  out += R"("messages":[)";
  for (const PromptMessage& message : result.messages) {
    if (&message != &result.messages.front()) out += ',';
    append_message(out, message, revision);
  }
  out += ']';
}

void append_members(std::string& out, const ReadResult& result, Revision) {
  out += R"("contents":[)";
  for (const ResourceContents& contents : result.contents) {
    if (&contents != &result.contents.front()) out += ',';
    append_json(out, contents);
  }
  out += ']';
}

void append_members(std::string& out, const Completion& completion) {
  const std::size_t count = std::min(completion.values.size(), limits::kCompletionValues);
  const std::vector<std::string> values(completion.values.begin(),
                                        completion.values.begin() + static_cast<std::ptrdiff_t>(count));
  out += R"("completion":)";
  ObjectWriter writer(out);
  writer.array("values", values,
               [](std::string& to, const std::string& value) { json::append_quoted(to, value); });
  if (completion.total) writer.number("total", *completion.total);
  writer.flag("hasMore", completion.has_more || count < completion.values.size());
  writer.finish();
}

Result<CompletionRequest> parse_completion_request(const json::object& params) {
  const json::object* ref = json::find_object(params, "ref");
  const json::object* argument = json::find_object(params, "argument");
  if (!ref || !argument) return fail(invalid("completion needs ref and argument"));
  const auto type = json::find_string(*ref, "type");
  CompletionRequest request;
  if (type == "ref/resource") {
    request.kind = CompletionRequest::Kind::resource;
  } else if (type != "ref/prompt") {
    return fail(invalid("ref.type must be ref/prompt or ref/resource"));
  }
  const bool is_prompt = request.kind == CompletionRequest::Kind::prompt;
  const auto target = json::find_string(*ref, is_prompt ? "name" : "uri");
  const auto name = json::find_string(*argument, "name");
  const auto value = json::find_string(*argument, "value");
  if (!target || !name || !value)
    return fail(invalid("completion needs ref, argument.name and argument.value as strings"));
  request.ref = *target;
  request.argument = *name;
  request.value = *value;
  if (const json::object* context = json::find_object(params, "context"))
    if (const json::object* chosen = json::find_object(*context, "arguments")) request.context = *chosen;
  return request;
}

}  // namespace relay::protocol
