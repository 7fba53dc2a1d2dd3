// URI templates: which URIs a resource template stands for.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace relay::protocol {

/// What a URI has in the places of a template's names.
using UriVariables = std::map<std::string, std::string>;

/// The variables of a level-1 URI template (`{name}` matches up to the next '/'), or nothing when it does not
/// match.
std::optional<UriVariables> find_variables(std::string_view uri_template, std::string_view uri);

}  // namespace relay::protocol
