#include "tools/file_uri.h"

#include <fmt/format.h>

namespace relay::tools {
namespace {

bool is_unreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
         c == '_' || c == '~';
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

}  // namespace

std::string uri_of_file(std::string_view tree_path) {
  while (tree_path.starts_with('/')) tree_path.remove_prefix(1);
  std::string uri(kFileUriPrefix);
  for (const char c : tree_path) {
    if (is_unreserved(c)) {
      uri += c;
    } else {
      uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return uri;
}

std::optional<std::string> find_file_of_variable(std::string_view value) {
  std::string path = "/";
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (value[i] != '%') {
      path += value[i];
      continue;
    }
    const int high = i + 2 < value.size() ? hex_value(value[i + 1]) : -1;
    const int low = i + 2 < value.size() ? hex_value(value[i + 2]) : -1;
    if (high < 0 || low < 0) return std::nullopt;
    path += static_cast<char>(high << 4 | low);
    i += 2;
  }
  return path;
}

std::optional<std::string> find_file_of_uri(std::string_view uri) {
  if (!uri.starts_with(kFileUriPrefix)) return std::nullopt;
  return find_file_of_variable(uri.substr(kFileUriPrefix.size()));
}

}  // namespace relay::tools
