#include "policy/tree_path.h"

#include <algorithm>

#include "base/limits.h"

namespace relay::policy {
namespace {

// Adds one part; the caller has cut the text at slashes.
bool add_part(TreePath& path, std::string_view part) {
  if (part.empty() || part == ".") return true;
  if (part == "..") {
    if (!path.parts.empty()) path.parts.pop_back();
    return true;
  }
  if (part.size() > limits::kNameBytes) return false;
  path.parts.emplace_back(part);
  return true;
}

bool ends_as_directory(std::string_view text) {
  return text.ends_with('/') || text.ends_with("/.") || text.ends_with("/..");
}

}  // namespace

std::string_view describe(PathFault fault) {
  switch (fault) {
    case PathFault::empty: return "the path is empty";
    case PathFault::too_long: return "the path is too long";
    case PathFault::has_nul: return "it contains a NUL byte";
    case PathFault::relative: return "paths are absolute: /host/<mount>/..., /tmp/..., /out/... or /mcps/...";
    case PathFault::name_too_long: return "a name in it is too long";
  }
  return "";
}

std::expected<TreePath, PathFault> parse_path(std::string_view text) {
  if (text.empty()) return std::unexpected(PathFault::empty);
  if (text.size() > limits::kPathBytes) return std::unexpected(PathFault::too_long);
  if (text.contains('\0')) return std::unexpected(PathFault::has_nul);
  if (text.front() != '/') return std::unexpected(PathFault::relative);
  TreePath path;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t slash = std::min(text.find('/', at), text.size());
    if (!add_part(path, text.substr(at, slash - at))) return std::unexpected(PathFault::name_too_long);
    at = slash + 1;
  }
  if (ends_as_directory(text)) path.ending = PathEnding::directory;
  return path;
}

bool is_below(std::string_view path, std::string_view root) {
  if (root == "/" || path == root) return true;
  return path.size() > root.size() && path.starts_with(root) && path[root.size()] == '/';
}

std::string TreePath::below(std::size_t first) const {
  std::string text;
  for (std::size_t i = first; i < parts.size(); ++i) {
    if (!text.empty()) text += '/';
    text += parts[i];
  }
  return text;
}

std::string TreePath::text() const {
  return "/" + below(0);
}

}  // namespace relay::policy
