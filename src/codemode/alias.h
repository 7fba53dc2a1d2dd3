// Aliases: the identifier under which code reaches a server or a tool.
//
//   "My-Server" -> my_server    "3d" -> _3d    "class" -> class_    a second "my server" -> my_server_2
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace relay::codemode {

/// Lower case, everything but letters and digits becomes "_", a leading digit gets a "_", a Python keyword
/// gets one at its end.
std::string alias_of(std::string_view name);
/// The same with "_2", "_3" behind it when it is taken; notes it as taken.
std::string free_alias(std::string_view name, std::set<std::string, std::less<>>& taken);

/// The same for a tool: a name that is an identifier stays as it is.
std::string free_tool_alias(std::string_view name, std::set<std::string, std::less<>>& taken);

bool is_python_keyword(std::string_view word);
/// Letters, digits and underscores, not beginning with a digit; keywords of the languages are not looked at.
bool is_identifier(std::string_view word);

}  // namespace relay::codemode
