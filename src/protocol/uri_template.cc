#include "protocol/uri_template.h"

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
    const std::string name(uri_template.substr(1, close - 1));
    const std::string_view value = uri.substr(0, uri.find('/'));
    if (value.empty()) return std::nullopt;
    variables.insert_or_assign(name, std::string(value));
    uri.remove_prefix(value.size());
    uri_template.remove_prefix(close + 1);
  }
  return uri.empty() ? std::optional(std::move(variables)) : std::nullopt;
}

}  // namespace relay::protocol
