#include "tools/tool_definition.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

namespace relay::tools {
namespace {

constexpr std::size_t kMountsNamed =
    8;  // read / lists the others; the description is part of every tool list

constexpr std::array<std::string_view, 6> kMembers{"name",        "title",        "description",
                                                   "inputSchema", "outputSchema", "annotations"};
constexpr std::array<std::string_view, 4> kHints{"readOnlyHint", "destructiveHint", "idempotentHint",
                                                 "openWorldHint"};

Result<void> expect_only(const json::object& object, std::span<const std::string_view> known) {
  for (const auto& member : object)
    if (std::ranges::find(known, std::string_view(member.key())) == known.end())
      return fail(invalid(fmt::format("tool definition: unknown member {}", std::string(member.key()))));
  return {};
}

Result<void> check_text(const json::object& members, std::string_view key) {
  if (json::find_string(members, key).value_or("").empty())
    return fail(invalid(fmt::format("tool definition: {} must be a text that is not empty", key)));
  return {};
}

Result<void> check_object(const json::object& members, std::string_view key) {
  if (!json::find_object(members, key))
    return fail(invalid(fmt::format("tool definition: {} must be an object", key)));
  return {};
}

Result<void> check_hints(const json::object& annotations) {
  RELAY_CHECK(expect_only(annotations, kHints));
  for (const auto& hint : annotations)
    if (!hint.value().is_bool())
      return fail(invalid(fmt::format("tool definition: {} must be true or false", std::string(hint.key()))));
  return {};
}

protocol::ToolAnnotations annotations_of(const json::object& members) {
  protocol::ToolAnnotations out;
  const json::object* given = json::find_object(members, "annotations");
  if (!given) return out;
  out.read_only = json::find_bool(*given, "readOnlyHint");
  out.destructive = json::find_bool(*given, "destructiveHint");
  out.idempotent = json::find_bool(*given, "idempotentHint");
  out.open_world = json::find_bool(*given, "openWorldHint");
  return out;
}

}  // namespace

Result<ToolDefinition> ToolDefinition::parse(std::string_view text) {
  RELAY_TRY(json::object members, json::parse_object(text));
  RELAY_CHECK(expect_only(members, kMembers));
  for (const std::string_view key : {"name", "description"}) RELAY_CHECK(check_text(members, key));
  if (json::find(members, "title")) RELAY_CHECK(check_text(members, "title"));
  RELAY_CHECK(check_object(members, "inputSchema"));
  for (const std::string_view key : {"outputSchema", "annotations"})
    if (json::find(members, key)) RELAY_CHECK(check_object(members, key));
  if (const json::object* hints = json::find_object(members, "annotations")) RELAY_CHECK(check_hints(*hints));
  return ToolDefinition(std::move(members));
}

Result<json::object*> ToolDefinition::find_parameter(std::string_view name) {
  json::object& schema = members_["inputSchema"].get_object();
  const json::object* properties = json::find_object(schema, "properties");
  if (!properties || !json::find_object(*properties, name))
    return fail(invalid(fmt::format("tool definition of {}: no parameter {}",
                                    json::find_string(members_, "name").value_or(""), name)));
  return &schema["properties"].get_object()[name].get_object();
}

Result<void> ToolDefinition::set_default(std::string_view parameter, json::value value) {
  RELAY_TRY(json::object * found, find_parameter(parameter));
  (*found)["default"] = std::move(value);
  return {};
}

Result<void> ToolDefinition::describe_parameter(std::string_view parameter, std::string_view sentence) {
  RELAY_TRY(json::object * found, find_parameter(parameter));
  (*found)["description"] = sentence;
  return {};
}

Result<void> ToolDefinition::remove_parameter(std::string_view parameter) {
  RELAY_CHECK(find_parameter(parameter));
  json::object kept;
  json::object& properties = members_["inputSchema"].get_object()["properties"].get_object();
  for (auto& member : properties)
    if (std::string_view(member.key()) != parameter) kept.emplace(member.key(), std::move(member.value()));
  properties = std::move(kept);
  return {};
}

void ToolDefinition::add_sentence(std::string_view sentence) {
  if (sentence.empty()) return;
  members_["description"] = fmt::format("{} {}", *json::find_string(members_, "description"), sentence);
}

protocol::Tool ToolDefinition::tool() const {
  protocol::Tool tool;
  tool.name = *json::find_string(members_, "name");
  tool.title = json::find_string(members_, "title").value_or("");
  tool.description = *json::find_string(members_, "description");
  tool.input_schema = protocol::JsonText::from(*json::find(members_, "inputSchema"));
  if (const json::value* output = json::find(members_, "outputSchema"))
    tool.output_schema = protocol::JsonText::from(*output);
  tool.annotations = annotations_of(members_);
  return tool;
}

std::string mounts_sentence(std::span<const vfs::MountSpec> mounts) {
  if (mounts.empty()) return {};
  std::string text = "Mounts:";
  for (const vfs::MountSpec& mount : mounts.first(std::min(mounts.size(), kMountsNamed)))
    text += fmt::format("{} /host/{} ({})", text.ends_with(':') ? "" : ",", mount.name,
                        mount.mode == vfs::MountMode::rw ? "rw" : "ro");
  if (mounts.size() > kMountsNamed) text += fmt::format(" and {} more", mounts.size() - kMountsNamed);
  return text + ".";
}

}  // namespace relay::tools
