#include "codemode/learned_shape.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "base/limits.h"

namespace relay::codemode {
namespace {

constexpr int kDepth = 10;               // what is deeper is left open
constexpr std::size_t kItemsSeen = 100;  // of one array

using Names = std::set<std::string, std::less<>>;

Names names_in(const json::value* list) {
  Names names;
  if (list && list->is_string()) names.emplace(list->get_string());
  if (list && list->is_array())
    for (const json::value& item : list->get_array())
      if (item.is_string()) names.emplace(item.get_string());
  return names;
}

json::value list_of(const Names& names) {
  json::array list;
  for (const std::string& name : names) list.emplace_back(name);
  return list;
}

// One type is a word, several are a list.
void set_types(json::object& schema, Names types) {
  if (types.contains("number")) types.erase("integer");
  if (types.size() == 1)
    schema["type"] = *types.begin();
  else
    schema["type"] = list_of(types);
}

std::string_view type_of(const json::value& sample) {
  switch (sample.kind()) {
    case boost::json::kind::null: return "null";
    case boost::json::kind::bool_: return "boolean";
    case boost::json::kind::int64:
    case boost::json::kind::uint64: return "integer";
    case boost::json::kind::double_: return "number";
    case boost::json::kind::string: return "string";
    case boost::json::kind::array: return "array";
    case boost::json::kind::object: return "object";
  }
  return "null";
}

bool is_open(const json::object& schema) {
  return !schema.contains("type");
}

json::value merge(const json::value& a, const json::value& b);

json::value merge_missing(const json::value* a, const json::value* b) {
  if (a && b) return merge(*a, *b);
  return a ? *a : b ? *b : json::value(json::object());
}

json::object sorted(const json::object& members) {
  Names names;
  for (const auto& member : members) names.emplace(member.key());
  json::object out;
  for (const std::string& name : names) out[name] = members.at(name);
  return out;
}

// An object with very many members, or whose members come and go, is a map: one type for all of them.
json::value as_map(const json::object& properties, const json::value* rest) {
  std::optional<json::value> all;
  if (rest) all = *rest;
  for (const auto& member : properties) all = all ? merge(*all, member.value()) : member.value();
  return all.value_or(json::value(json::object()));
}

void merge_objects(json::object& out, const json::object& a, const json::object& b) {
  const json::object* left = json::find_object(a, "properties");
  const json::object* right = json::find_object(b, "properties");
  json::object properties = left ? *left : json::empty_object();
  for (const auto& member : right ? *right : json::empty_object()) {
    json::value* known = properties.if_contains(member.key());
    if (known)
      *known = merge(*known, member.value());
    else
      properties[member.key()] = member.value();
  }
  const json::value* rest_a = json::find(a, "additionalProperties");
  const json::value* rest_b = json::find(b, "additionalProperties");
  if (rest_a || rest_b || properties.size() > limits::kLearnedMembers) {
    const json::value rest = merge_missing(rest_a, rest_b);
    out["additionalProperties"] = as_map(properties, rest_a || rest_b ? &rest : nullptr);
    return;
  }
  if (!properties.empty()) out["properties"] = sorted(properties);
}

bool has_type(const json::object& schema, std::string_view type) {
  return names_in(json::find(schema, "type")).contains(type);
}

// Only where both have objects can a member be missing from one of them.
void merge_required(json::object& out, const json::object& a, const json::object& b) {
  if (out.contains("additionalProperties")) return;
  Names required = names_in(json::find(a, "required"));
  const Names other = names_in(json::find(b, "required"));
  if (has_type(a, "object") && has_type(b, "object"))
    std::erase_if(required, [&](const std::string& name) { return !other.contains(name); });
  else if (has_type(b, "object"))
    required = other;
  if (!required.empty()) out["required"] = list_of(required);
}

json::value merge(const json::value& a, const json::value& b) {
  const json::object& left = a.as_object();
  const json::object& right = b.as_object();
  if (is_open(left) || is_open(right)) return json::object();
  json::object out;
  Names types = names_in(json::find(left, "type"));
  types.merge(names_in(json::find(right, "type")));
  set_types(out, types);
  const json::value* items_a = json::find(left, "items");
  const json::value* items_b = json::find(right, "items");
  if (items_a || items_b) out["items"] = merge_missing(items_a, items_b);
  if (types.contains("object")) {
    merge_objects(out, left, right);
    merge_required(out, left, right);
  }
  return out;
}

json::value learn(const json::value& sample, int depth) {
  if (depth > kDepth) return json::object();
  json::object schema;
  schema["type"] = type_of(sample);
  if (const json::array* array = sample.if_array()) {
    std::optional<json::value> items;
    for (std::size_t i = 0; i < std::min(array->size(), kItemsSeen); ++i) {
      json::value item = learn((*array)[i], depth + 1);
      items = items ? merge(*items, item) : std::move(item);
    }
    if (items) schema["items"] = std::move(*items);
  }
  const json::object* object = sample.if_object();
  if (!object || object->empty()) return schema;
  json::object properties;
  Names names;
  for (const auto& member : *object) {
    properties[member.key()] = learn(member.value(), depth + 1);
    names.emplace(member.key());
  }
  if (properties.size() > limits::kLearnedMembers) {
    schema["additionalProperties"] = as_map(properties, nullptr);
    return schema;
  }
  schema["properties"] = sorted(properties);
  schema["required"] = list_of(names);
  return schema;
}

json::value cut(const json::value& schema, int depth) {
  const json::object* object = schema.if_object();
  if (!object || depth <= 0) return json::object();
  json::object out = *object;
  for (const std::string_view key : {"items", "additionalProperties"})
    if (const json::value* inner = json::find(out, key)) out[key] = cut(*inner, depth - 1);
  if (json::value* properties = out.if_contains("properties"); properties && properties->is_object())
    for (auto& member : properties->get_object()) member.value() = cut(member.value(), depth - 1);
  return out;
}

}  // namespace

json::value learned_from(const json::value& sample) {
  return learn(sample, 0);
}

json::value merged_schemas(const json::value& a, const json::value& b) {
  return merge(a, b);
}

json::value bounded_schema(json::value schema) {
  for (int depth = kDepth; depth > 0 && json::write(schema).size() > limits::kLearnedTypeBytes; --depth)
    schema = cut(schema, depth);
  return json::write(schema).size() > limits::kLearnedTypeBytes ? json::value(json::object())
                                                                : std::move(schema);
}

}  // namespace relay::codemode
