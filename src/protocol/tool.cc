#include "protocol/tool.h"

#include "protocol/json_writer.h"

namespace relay::protocol {
namespace {

std::string_view name_of(TaskSupport support) {
  switch (support) {
    case TaskSupport::forbidden: return "forbidden";
    case TaskSupport::optional: return "optional";
    case TaskSupport::required: return "required";
  }
  return "forbidden";
}

void flag_if(ObjectWriter& writer, std::string_view name, std::optional<bool> value) {
  if (value) writer.flag(name, *value);
}

void append_annotations(std::string& out, const ToolAnnotations& annotations) {
  ObjectWriter writer(out);
  writer.text_if("title", annotations.title);
  flag_if(writer, "readOnlyHint", annotations.read_only);
  flag_if(writer, "destructiveHint", annotations.destructive);
  flag_if(writer, "idempotentHint", annotations.idempotent);
  flag_if(writer, "openWorldHint", annotations.open_world);
  writer.finish();
}

bool is_empty(const ToolAnnotations& annotations) {
  return annotations.title.empty() && !annotations.read_only && !annotations.destructive &&
         !annotations.idempotent && !annotations.open_world;
}

// Legacy revisions want the root of an output schema to be an object.
bool fits(const JsonText& output_schema, Revision revision) {
  if (revision < Revision::v2025_06_18) return false;
  if (era_of(revision) == Era::modern) return true;
  const json::object* root = output_schema.value().if_object();
  return root && json::find_string(*root, "type") == "object";
}

// What a legacy client would choke on is left out: an output schema that is no object.
void append_renamed(std::string& out, const Tool& tool, Revision revision) {
  const bool whole = !tool.output_schema || fits(*tool.output_schema, revision);
  if (whole) return append_with_text(out, *tool.raw, "name", tool.name);
  ObjectWriter writer(out);
  writer.text("name", tool.name);
  for (const json::Member& member : json::split_object(tool.raw->text()))
    if (member.key != "name" && member.key != "outputSchema") writer.raw(member.key, member.text);
  writer.finish();
}

// What of a result's structured part a revision can carry: nothing, an object, anything.
bool carries(const json::value& structured, Revision revision) {
  if (revision < Revision::v2025_06_18) return false;
  return era_of(revision) == Era::modern || structured.is_object();
}

}  // namespace

ToolResult ToolResult::text(std::string text) {
  ToolResult result;
  result.content.push_back(text_content(std::move(text)));
  return result;
}
ToolResult ToolResult::error(std::string text) {
  ToolResult result = ToolResult::text(std::move(text));
  result.is_error = true;
  return result;
}
ToolResult ToolResult::value(json::value structured) {
  ToolResult result;
  result.structured = std::move(structured);
  return result;
}

void append_json(std::string& out, const Tool& tool, Revision revision) {
  if (tool.raw) return append_renamed(out, tool, revision);
  ObjectWriter writer(out);
  writer.text("name", tool.name);
  if (revision >= Revision::v2025_06_18) writer.text_if("title", tool.title);
  writer.text_if("description", tool.description);
  writer.raw("inputSchema", tool.input_schema.text());
  if (tool.output_schema && fits(*tool.output_schema, revision))
    writer.raw("outputSchema", tool.output_schema->text());
  if (revision >= Revision::v2025_03_26 && !is_empty(tool.annotations))
    append_annotations(writer.key("annotations"), tool.annotations);
  if (revision >= Revision::v2025_11_25 && !tool.icons.empty())
    writer.array("icons", tool.icons, [](std::string& to, const Icon& icon) { append_json(to, icon); });
  if (revision == Revision::v2025_11_25 && tool.task_support != TaskSupport::forbidden)
    writer.raw("execution",
               std::string(R"({"taskSupport":")") + std::string(name_of(tool.task_support)) + "\"}");
  writer.object_if("_meta", tool.meta);
  writer.finish();
}

void append_members(std::string& out, const ToolResult& result, Revision revision) {
  std::string structured;
  if (result.structured) structured = json::write(*result.structured);
  out += R"("content":[)";
  for (const Content& piece : result.content) {
    if (&piece != &result.content.front()) out += ',';
    append_json(out, piece, revision);
  }
  if (result.content.empty() && result.structured) append_json(out, text_content(structured), revision);
  out += ']';
  if (result.structured && carries(*result.structured, revision))
    out += R"(,"structuredContent":)" + structured;
  if (result.is_error) out += R"(,"isError":true)";
}

}  // namespace relay::protocol
