// "Did you mean": which of the known names a name that is not known probably stands for. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace relay {

/// list-issues, list_issues and listIssues are one name to people: the letters and digits in lower case.
std::string plain_spelling(std::string_view name);

/// The names most like `wanted`, best first; none when it is like no name. Only the first bytes of `wanted`
/// are compared, so its length does not matter.
std::vector<std::string> nearest_names(std::string_view wanted, const std::vector<std::string>& names,
                                       std::size_t max_count = 3);

/// The best of them, or empty.
std::string nearest_name(std::string_view wanted, const std::vector<std::string>& names);

}  // namespace relay
