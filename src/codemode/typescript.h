// From a tool's schemas to a TypeScript declaration. Pure; golden tests beside it.
#pragma once

#include <string>
#include <string_view>

#include "codemode/shape.h"

namespace relay::codemode {

/// A type expression; objects over several lines, indented as what stands around them.
std::string typescript_type(const Shape& shape, std::string_view indent = "");

/// A name as a member: list_issues, or "list issues" in quotes.
std::string typescript_member(std::string_view name);

/// `list_issues(args: {...}): Promise<...>;` with its description above it. `result` null: unknown.
std::string typescript_method(std::string_view name, std::string_view description, const Shape& input,
                              const Shape* output, std::string_view indent);

}  // namespace relay::codemode
