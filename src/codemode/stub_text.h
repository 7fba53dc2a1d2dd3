// Text of strangers on its way into a declaration: descriptions and names that end up in comments, docstrings
// and literals. Whatever they hold, they stay inside.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace relay::codemode {

/// Printable text: control characters, and characters that reorder or hide what stands beside them, become
/// spaces; lines are kept.
std::string printable(std::string_view text, std::size_t max_bytes);
/// The first sentence, on one line.
std::string first_sentence(std::string_view text, std::size_t max_bytes);

/// "/** text */", over several lines when it has them, each with the indent before it; empty for an empty
/// text.
std::string jsdoc(std::string_view text, std::string_view indent);
/// The same as a docstring.
std::string docstring(std::string_view text, std::string_view indent);
/// Every line with the same text before it.
std::string indented(std::string_view text, std::string_view before);
/// For a line of Markdown: what would begin a heading, a link or a tag is escaped.
std::string markdown(std::string_view text);

/// A JSON string that is a string of TypeScript and Python too; what cannot be seen in it is spelled as an
/// escape.
std::string string_literal(std::string_view text);
/// A JSON value as an expression of TypeScript; not for objects and arrays.
std::string typescript_literal(const json::value& value);
/// The same for Python.
std::string python_literal(const json::value& value);

}  // namespace relay::codemode
