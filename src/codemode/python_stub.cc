#include "codemode/python_stub.h"

#include <algorithm>

#include <fmt/format.h>

#include "codemode/alias.h"
#include "codemode/stub_text.h"

namespace relay::codemode {
namespace {

using Kind = Shape::Kind;

constexpr std::size_t kMemberTextBytes = 300;  // of one parameter, in the docstring

// list_issues -> ListIssues
std::string class_name(std::string_view words) {
  std::string out;
  bool up = true;
  for (const char c : alias_of(words)) {
    if (c != '_') out += up && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    up = c == '_';
  }
  return out.empty() || (out.front() >= '0' && out.front() <= '9') ? "T" + out : out;
}

bool is_parameter_name(std::string_view name) {
  return is_identifier(name) && !is_python_keyword(name);
}

bool all_parameter_names(const Shape& shape) {
  return std::ranges::all_of(shape.members,
                             [](const ShapeMember& member) { return is_parameter_name(member.name); });
}

std::string member_docs(const Shape& input) {
  std::string out;
  for (const ShapeMember& member : input.members) {
    if (member.description.empty()) continue;
    std::string text = printable(member.description, kMemberTextBytes);
    std::ranges::replace(text, '\n', ' ');
    out += fmt::format("\n{}: {}", printable(member.name, 100), text);
  }
  return out.empty() ? out : "\n" + out;
}

}  // namespace

std::string_view python_stub_head() {
  return "from typing import Any, Literal, Never, NotRequired, TypedDict\n";
}

std::string PythonStub::choice_type(const Shape& shape, const std::string& name) {
  std::string literals, types;
  for (const Shape& part : shape.parts) {
    const bool literal =
        part.kind == Kind::literal && !part.literal.is_double() && !part.literal.is_structured();
    std::string& list = literal ? literals : types;
    const std::string text = literal ? python_literal(part.literal) : type(part, name);
    if (!list.empty()) list += literal ? ", " : " | ";
    list += text;
  }
  if (literals.empty()) return types;
  literals = "Literal[" + literals + "]";
  return types.empty() ? literals : literals + " | " + types;
}

std::string PythonStub::type(const Shape& shape, const std::string& name) {
  switch (shape.kind) {
    case Kind::any: return "Any";
    case Kind::never: return "Never";
    case Kind::null: return "None";
    case Kind::boolean: return "bool";
    case Kind::integer: return "int";
    case Kind::number: return "float";
    case Kind::string: return "str";
    case Kind::literal:
      if (shape.literal.is_structured()) return "Any";
      return shape.literal.is_double() ? "float" : "Literal[" + python_literal(shape.literal) + "]";
    case Kind::array: return "list[" + type(shape.parts[0], name + "Item") + "]";
    case Kind::tuple: return "list[Any]";  // JSON arrays arrive as lists
    case Kind::object: return object_type(shape, name);
    case Kind::choice: return choice_type(shape, name);
    case Kind::all: return type(shape.parts[0], name);
  }
  return "Any";
}

std::string PythonStub::object_type(const Shape& shape, const std::string& name) {
  if (shape.members.empty())
    return shape.parts.empty() ? "dict[str, Any]" : "dict[str, " + type(shape.parts[0], name + "Value") + "]";
  return declare(shape, name);
}

std::string PythonStub::declare(const Shape& shape, const std::string& wanted) {
  std::string name = wanted;
  for (int number = 2; !names_.insert(name).second; ++number) name = fmt::format("{}{}", wanted, number);
  const bool plain = all_parameter_names(shape);
  std::string text = plain ? fmt::format("class {}(TypedDict):\n", name)
                           : fmt::format("{0} = TypedDict(\"{0}\", {{\n", name);
  for (const ShapeMember& member : shape.members) {
    std::string member_type = type(member.shape, name + class_name(member.name));
    if (!member.required) member_type = "NotRequired[" + member_type + "]";
    text += plain ? fmt::format("    {}: {}\n", member.name, member_type)
                  : fmt::format("    {}: {},\n", string_literal(member.name), member_type);
  }
  classes_ += text + (plain ? "\n" : "})\n\n");
  return name;
}

// Names that Python cannot take as keywords travel in one dictionary.
std::string PythonStub::parameters(const Shape& input, const std::string& name) {
  if (!input.is_object()) return "arguments: " + type(input, name);
  if (input.members.empty()) return input.parts.empty() ? "" : "**arguments: " + type(input.parts[0], name);
  if (!all_parameter_names(input)) return "arguments: " + declare(input, name + "Arguments") + ", /";
  std::string out = "*";
  for (const bool required : {true, false})
    for (const ShapeMember& member : input.members)
      if (member.required == required)
        out += fmt::format(", {}: {}{}", member.name, type(member.shape, name + class_name(member.name)),
                           required ? "" : " = ...");
  return out;
}

std::string PythonStub::function(std::string_view alias, std::string_view description, const Shape& input,
                                 const Shape* output) {
  classes_.clear();
  const std::string name = class_name(alias);
  const std::string takes = parameters(input, name);
  const std::string gives = output ? type(*output, name + "Result") : "Any";
  const std::string docs =
      docstring(printable(description, limits::kStubTextBytes) + member_docs(input), "    ");
  return fmt::format("{}def {}({}) -> {}:{}", classes_, alias, takes, gives,
                     docs.empty() ? " ...\n" : "\n" + docs + "    ...\n");
}

}  // namespace relay::codemode
