#include "config/config_check.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/nearest_name.h"
#include "protocol/schema.h"

namespace relay::config {
namespace {

std::vector<std::string> keys_of(const json::object& object) {
  std::vector<std::string> keys;
  for (const auto& member : object) keys.emplace_back(member.key());
  return keys;
}

// The schema of one member: its own, or the one for members that are not named.
const json::value* member_schema(const json::object& schema, std::string_view key) {
  if (const json::object* properties = json::find_object(schema, "properties"))
    if (const json::value* own = json::find(*properties, key)) return own;
  const json::value* others = json::find(schema, "additionalProperties");
  return others && others->is_object() ? others : nullptr;
}

bool is_closed(const json::object& schema) {
  return json::find_bool(schema, "additionalProperties") == false;
}

// 1mcp has its mounts here.
std::string unknown_key(std::string_view path, std::string_view near) {
  if (path == "$.policy.filesystem.mounts")
    return "unknown key; directories are in mounts at the top level, as {\"name\": \"project\", \"path\": "
           "\".\"}";
  return near.empty() ? "unknown key; `relay check-config --schema` lists the known ones"
                      : fmt::format("unknown key; did you mean \"{}\"?", near);
}

void find_unknown_keys(const json::object& schema, const json::value& value, const std::string& path,
                       std::vector<ConfigProblem>& out) {
  if (const json::array* items = value.if_array()) {
    const json::object* item_schema = json::find_object(schema, "items");
    for (std::size_t i = 0; item_schema && i < items->size(); ++i)
      find_unknown_keys(*item_schema, (*items)[i], fmt::format("{}[{}]", path, i), out);
  }
  const json::object* members = value.if_object();
  if (!members) return;
  const json::object* properties = json::find_object(schema, "properties");
  for (const auto& member : *members) {
    const std::string key(member.key());
    const std::string member_path = path + "." + key;
    if (const json::value* found = member_schema(schema, key)) {
      if (found->is_object()) find_unknown_keys(found->get_object(), member.value(), member_path, out);
    } else if (is_closed(schema)) {
      const std::string near =
          nearest_name(key, properties ? keys_of(*properties) : std::vector<std::string>{});
      out.push_back({member_path, unknown_key(member_path, near)});
    }
  }
}

// The validator's copy of the schema says nothing about unknown keys: find_unknown_keys says it better.
json::value without_closed_objects(json::value schema) {
  if (json::object* members = schema.if_object()) {
    if (is_closed(*members)) members->erase("additionalProperties");
    for (auto& member : *members) member.value() = without_closed_objects(std::move(member.value()));
  }
  return schema;
}

// Objects are completed whole: a missing block appears with the defaults of its members.
json::value complete(const json::object& schema, const json::value* value) {
  if (const json::array* items = value ? value->if_array() : nullptr) {
    const json::object* item_schema = json::find_object(schema, "items");
    json::array out;
    for (const json::value& item : *items) out.push_back(item_schema ? complete(*item_schema, &item) : item);
    return out;
  }
  const json::object* properties = json::find_object(schema, "properties");
  const json::value* fallback = json::find(schema, "default");
  if (!properties || (value ? !value->is_object() : fallback != nullptr)) {
    if (value) return *value;
    return fallback ? *fallback : json::value();
  }
  json::object out = value ? value->get_object() : json::object();
  for (const auto& property : *properties) {
    const json::value* given =
        json::find(out, std::string_view(property.key().data(), property.key().size()));
    json::value completed = complete(property.value().as_object(), given);
    if (!completed.is_null()) out[property.key()] = std::move(completed);
  }
  return out;
}

}  // namespace

std::vector<ConfigProblem> check_against_schema(const json::value& schema, const json::value& value) {
  std::vector<ConfigProblem> problems;
  find_unknown_keys(schema.as_object(), value, "$", problems);
  const auto compiled = protocol::Schema::compile(without_closed_objects(schema));
  if (!compiled) return {{"$", compiled.error().message}};
  for (protocol::SchemaProblem& problem : compiled->check(value, 64))
    problems.push_back({std::move(problem.path), std::move(problem.message)});
  return problems;
}

json::value with_defaults(const json::value& schema, const json::value& value) {
  return complete(schema.as_object(), &value);
}

}  // namespace relay::config
