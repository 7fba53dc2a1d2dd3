#include "codemode/typescript.h"

#include <algorithm>

#include <fmt/format.h>

#include "codemode/alias.h"
#include "codemode/stub_text.h"

namespace relay::codemode {
namespace {

using Kind = Shape::Kind;

std::string deeper(std::string_view indent) {
  return std::string(indent) + "  ";
}

std::string joined(const std::vector<Shape>& parts, std::string_view separator, std::string_view indent) {
  std::string out;
  for (const Shape& part : parts) {
    if (!out.empty()) out += separator;
    const bool nested = part.kind == Kind::choice || part.kind == Kind::all;
    out += nested ? "(" + typescript_type(part, indent) + ")" : typescript_type(part, indent);
  }
  return out;
}

std::string array_type(const Shape& items, std::string_view indent) {
  const std::string inner = typescript_type(items, indent);
  const bool wrap = items.kind == Kind::choice || items.kind == Kind::all;
  return wrap ? "(" + inner + ")[]" : inner + "[]";
}

std::string member_line(const ShapeMember& member, std::string_view indent) {
  return fmt::format("{}{}{}{}: {};\n", jsdoc(member.description, indent), indent,
                     typescript_member(member.name), member.required ? "" : "?",
                     typescript_type(member.shape, indent));
}

std::string object_type(const Shape& shape, std::string_view indent) {
  if (shape.members.empty())
    return shape.parts.empty() ? "Record<string, unknown>"
                               : "Record<string, " + typescript_type(shape.parts[0], indent) + ">";
  std::string out = "{\n";
  for (const ShapeMember& member : shape.members) out += member_line(member, deeper(indent));
  if (!shape.parts.empty())
    out += deeper(indent) + "[key: string]: unknown;\n";  // the other members' own type must fit theirs
  return out.append(indent).append("}");
}

}  // namespace

std::string typescript_member(std::string_view name) {
  return is_identifier(name) ? std::string(name) : string_literal(name);
}

std::string typescript_type(const Shape& shape, std::string_view indent) {
  switch (shape.kind) {
    case Kind::any: return "unknown";
    case Kind::never: return "never";
    case Kind::null: return "null";
    case Kind::boolean: return "boolean";
    case Kind::integer:
    case Kind::number: return "number";
    case Kind::string: return "string";
    case Kind::literal:
      return shape.literal.is_object() || shape.literal.is_array() ? "unknown"
                                                                   : typescript_literal(shape.literal);
    case Kind::array: return array_type(shape.parts[0], indent);
    case Kind::tuple: return "[" + joined(shape.parts, ", ", indent) + "]";
    case Kind::object: return object_type(shape, indent);
    case Kind::choice: return joined(shape.parts, " | ", indent);
    case Kind::all: return joined(shape.parts, " & ", indent);
  }
  return "unknown";
}

std::string typescript_method(std::string_view name, std::string_view description, const Shape& input,
                              const Shape* output, std::string_view indent) {
  const bool optional = std::ranges::none_of(input.members, &ShapeMember::required);
  std::string out = jsdoc(description, indent);
  out.append(indent).append(typescript_member(name));
  if (input.is_object() && input.members.empty() && input.parts.empty())
    out += "(args?: {})";
  else
    out += fmt::format("(args{}: {})", optional ? "?" : "", typescript_type(input, indent));
  return out + fmt::format(": Promise<{}>;\n", output ? typescript_type(*output, indent) : "unknown");
}

}  // namespace relay::codemode
