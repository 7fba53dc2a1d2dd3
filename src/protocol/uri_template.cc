#include "protocol/uri_template.h"

#include <algorithm>

namespace relay::protocol {

std::optional<UriVariables> find_variables(std::string_view uri_template, std::string_view uri) {
  UriVariables variables;
  while (!uri_template.empty()) {
    if (uri_template.front() != '{') {
      if (uri.empty() || uri.front() != uri_template.front()) return std::nullopt;
      uri_template.remove_prefix(1);
      uri.remove_prefix(1);
      continue;
    }
    const std::size_t close = uri_template.find('}');
    if (close == std::string_view::npos) return std::nullopt;
    const bool is_reserved = uri_template.substr(1).starts_with('+');  // {+rest} takes slashes too
    const std::string name(uri_template.substr(is_reserved ? 2 : 1, close - (is_reserved ? 2 : 1)));
    const std::string_view after = uri_template.substr(close + 1);
    const std::string_view literal = after.substr(0, after.find('{'));
    std::size_t end = is_reserved ? uri.size() : std::min(uri.find('/'), uri.size());
    if (is_reserved && !literal.empty()) end = uri.rfind(literal);
    if (end == std::string_view::npos || end == 0) return std::nullopt;
    const std::string_view value = uri.substr(0, end);
    variables.insert_or_assign(name, std::string(value));
    uri.remove_prefix(value.size());
    uri_template.remove_prefix(close + 1);
  }
  return uri.empty() ? std::optional(std::move(variables)) : std::nullopt;
}

}  // namespace relay::protocol
