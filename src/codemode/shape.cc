#include "codemode/shape.h"

#include <algorithm>
#include <optional>
#include <set>

#include "base/bytes.h"
#include "base/limits.h"

namespace relay::codemode {
namespace {

using Kind = Shape::Kind;

constexpr std::size_t kChoices = 50;

Shape of_kind(Kind kind) {
  Shape shape;
  shape.kind = kind;
  return shape;
}

Shape of_literal(const json::value& value) {
  Shape shape = of_kind(value.is_null() ? Kind::null : Kind::literal);
  shape.literal = value;
  return shape;
}

std::optional<Kind> find_kind(std::string_view type) {
  if (type == "null") return Kind::null;
  if (type == "boolean") return Kind::boolean;
  if (type == "integer") return Kind::integer;
  if (type == "number") return Kind::number;
  if (type == "string") return Kind::string;
  if (type == "array") return Kind::array;
  if (type == "object") return Kind::object;
  return {};
}

// Normalises the union: drops duplicates, flattens nested unions, unwraps a single member.
Shape choice_of(std::vector<Shape> parts, const auto& same) {
  std::vector<Shape> flat;
  for (Shape& part : parts) {
    if (part.kind == Kind::any) return of_kind(Kind::any);
    if (part.kind != Kind::choice)
      flat.push_back(std::move(part));
    else
      for (Shape& inner : part.parts) flat.push_back(std::move(inner));
  }
  Shape shape = of_kind(Kind::choice);
  for (Shape& part : flat)
    if (std::ranges::none_of(shape.parts, [&](const Shape& earlier) { return same(earlier, part); }))
      shape.parts.push_back(std::move(part));
  if (shape.parts.empty()) return of_kind(Kind::never);
  return shape.parts.size() == 1 ? Shape(std::move(shape.parts.front())) : shape;
}

bool is_simple(const Shape& shape) {
  return shape.parts.empty() && shape.members.empty() && shape.kind != Kind::object;
}

bool same(const Shape& a, const Shape& b) {
  return a.kind == b.kind && is_simple(a) && is_simple(b) && a.literal == b.literal;
}

std::string unescaped_token(std::string_view token) {
  std::string out;
  for (std::size_t i = 0; i < token.size(); ++i) {
    const bool escape = token[i] == '~' && i + 1 < token.size();
    if (escape && token[i + 1] == '1')
      out += '/', ++i;
    else if (escape && token[i + 1] == '0')
      out += '~', ++i;
    else
      out += token[i];
  }
  return out;
}

class Reader {
 public:
  explicit Reader(const json::value& root) : root_(root) {}

  Shape read(const json::value& schema, int depth) {
    if (const bool* allowed = schema.if_bool()) return of_kind(*allowed ? Kind::any : Kind::never);
    const json::object* object = schema.if_object();
    if (!object || depth > limits::kShapeDepth || ++nodes_ > limits::kShapeNodes) return of_kind(Kind::any);
    Shape shape = read_object(*object, depth);
    if (json::find_bool(*object, "nullable").value_or(false))
      shape = choice_of({std::move(shape), of_kind(Kind::null)}, same);
    return shape;
  }

  [[nodiscard]] std::string description_of(const json::value& schema) const {
    const json::object* object = schema.if_object();
    const auto text = object ? json::find_string(*object, "description") : std::nullopt;
    return std::string(utf8_prefix(text.value_or(""), limits::kStubTextBytes));
  }

 private:
  Shape read_object(const json::object& schema, int depth) {
    if (const auto ref = json::find_string(schema, "$ref")) return read_ref(*ref, depth);
    if (const json::value* value = json::find(schema, "const")) return of_literal(*value);
    if (const json::array* values = json::find_array(schema, "enum"))
      return read_enum(*values, schema, depth);
    for (const std::string_view key : {"anyOf", "oneOf"})
      if (const json::array* list = json::find_array(schema, key); list && says_types(*list))
        return read_choice(*list, depth);
    if (const json::array* list = json::find_array(schema, "allOf"); list && says_types(*list))
      return read_all(*list, schema, depth);
    return read_typed(schema, depth);
  }

  Shape read_ref(std::string_view ref, int depth) {
    const json::value* target = find_target(ref);
    if (!target || !open_.insert(target).second) return of_kind(Kind::any);
    Shape shape = read(*target, depth + 1);
    open_.erase(target);
    return shape;
  }

  [[nodiscard]] const json::value* find_target(std::string_view ref) const {
    if (!ref.starts_with('#')) return nullptr;
    const json::value* at = &root_;
    for (std::string_view rest = ref.substr(1); at && rest.starts_with('/');) {
      const std::size_t end = std::min(rest.find('/', 1), rest.size());
      const std::string token = unescaped_token(rest.substr(1, end - 1));
      const json::object* object = at->if_object();
      at = object ? json::find(*object, token) : nullptr;
      rest.remove_prefix(end);
    }
    return at;
  }

  // A long list of values says less than its type does.
  Shape read_enum(const json::array& values, const json::object& schema, int depth) {
    if (values.size() > kChoices) return read_typed(schema, depth);
    std::vector<Shape> parts;
    for (const json::value& value : values) parts.push_back(of_literal(value));
    return choice_of(std::move(parts), same);
  }

  // {"anyOf":[{"required":["a"]},{"required":["b"]}]} is a condition on an object, not a choice of types.
  static bool says_types(const json::array& list) {
    return std::ranges::any_of(list, [](const json::value& item) {
      const json::object* object = item.if_object();
      if (!object) return false;
      return std::ranges::any_of(
          std::initializer_list<std::string_view>{"type", "$ref", "const", "enum", "properties", "anyOf",
                                                  "oneOf", "allOf", "items"},
          [&](std::string_view key) { return object->contains(key); });
    });
  }

  Shape read_choice(const json::array& list, int depth) {
    std::vector<Shape> parts;
    for (const json::value& item : list)
      if (parts.size() < kChoices) parts.push_back(read(item, depth + 1));
    return choice_of(std::move(parts), same);
  }

  Shape read_all(const json::array& list, const json::object& schema, int depth) {
    Shape all = of_kind(Kind::all);
    if (schema.contains("properties") || schema.contains("type"))
      all.parts.push_back(read_typed(schema, depth));
    for (const json::value& item : list)
      if (all.parts.size() < kChoices) all.parts.push_back(read(item, depth + 1));
    std::erase_if(all.parts, [](const Shape& part) { return part.kind == Kind::any; });
    if (all.parts.empty()) return of_kind(Kind::any);
    if (!std::ranges::all_of(all.parts, &Shape::is_object))
      return all.parts.size() == 1 ? Shape(std::move(all.parts.front())) : all;
    return merged(std::move(all.parts));
  }

  static Shape merged(std::vector<Shape> objects) {
    Shape whole = std::move(objects.front());
    for (std::size_t i = 1; i < objects.size(); ++i) {
      for (ShapeMember& member : objects[i].members) {
        const auto known = std::ranges::find(whole.members, member.name, &ShapeMember::name);
        if (known == whole.members.end())
          whole.members.push_back(std::move(member));
        else
          known->required = known->required || member.required;
      }
    }
    return whole;
  }

  Shape read_typed(const json::object& schema, int depth) {
    const json::value* type = json::find(schema, "type");
    if (const json::array* list = type ? type->if_array() : nullptr) {
      std::vector<Shape> parts;
      for (const json::value& item : *list)
        if (item.is_string() && parts.size() < kChoices)
          parts.push_back(read_kind(find_kind(json::view(item.get_string())), schema, depth));
      return choice_of(std::move(parts), same);
    }
    std::optional<Kind> kind =
        type && type->is_string() ? find_kind(json::view(type->get_string())) : std::nullopt;
    if (!kind && (schema.contains("properties") || schema.contains("additionalProperties")))
      kind = Kind::object;
    if (!kind && (schema.contains("items") || schema.contains("prefixItems"))) kind = Kind::array;
    return read_kind(kind, schema, depth);
  }

  Shape read_kind(std::optional<Kind> kind, const json::object& schema, int depth) {
    if (!kind) return of_kind(Kind::any);
    if (*kind == Kind::array) return read_array(schema, depth);
    return *kind == Kind::object ? read_members(schema, depth) : of_kind(*kind);
  }

  Shape read_array(const json::object& schema, int depth) {
    const json::value* items = json::find(schema, "items");
    const json::array* tuple = json::find_array(schema, "prefixItems");
    if (!tuple && items) tuple = items->if_array();  // draft 7
    Shape shape = of_kind(tuple ? Kind::tuple : Kind::array);
    if (!tuple) {
      shape.parts.push_back(items ? read(*items, depth + 1) : of_kind(Kind::any));
      return shape;
    }
    for (const json::value& item : *tuple)
      if (shape.parts.size() < kChoices) shape.parts.push_back(read(item, depth + 1));
    return shape;
  }

  Shape read_members(const json::object& schema, int depth) {
    Shape shape = of_kind(Kind::object);
    const std::set<std::string_view> required = required_of(schema);
    if (const json::object* properties = json::find_object(schema, "properties"))
      for (const auto& [key, value] : *properties) {
        if (nodes_ > limits::kShapeNodes) break;
        shape.members.push_back(
            {std::string(key), read(value, depth + 1), required.contains(key), description_of(value)});
      }
    const json::value* rest = json::find(schema, "additionalProperties");
    if (const json::object* patterns = json::find_object(schema, "patternProperties");
        !rest && patterns && patterns->size() == 1)
      rest = &patterns->begin()->value();
    if (rest && !(rest->is_bool() && !rest->get_bool())) shape.parts.push_back(read(*rest, depth + 1));
    return shape;
  }

  static std::set<std::string_view> required_of(const json::object& schema) {
    std::set<std::string_view> names;
    if (const json::array* required = json::find_array(schema, "required"))
      for (const json::value& item : *required)
        if (item.is_string()) names.insert(json::view(item.get_string()));
    return names;
  }

  const json::value& root_;
  std::size_t nodes_ = 0;
  std::set<const json::value*> open_;
};

}  // namespace

Shape shape_of(const json::value& schema) {
  return Reader(schema).read(schema, 0);
}

}  // namespace relay::codemode
