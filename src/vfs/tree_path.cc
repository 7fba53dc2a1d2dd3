#include "vfs/tree_path.h"

#include <algorithm>

#include "base/limits.h"

namespace relay::vfs {
namespace {

// Adds one part; the caller has cut the text at slashes.
FileResult<> add_part(TreePath& path, std::string_view part) {
  if (part.empty() || part == ".") return {};
  if (part == "..") {
    if (!path.parts.empty()) path.parts.pop_back();
    return {};
  }
  if (part.size() > limits::kNameBytes)
    return fail(file_error(ENAMETOOLONG, std::string(part.substr(0, 40)) + "..."));
  path.parts.emplace_back(part);
  return {};
}

FileResult<> check_text(std::string_view text) {
  if (text.empty()) return fail(file_error(ENOENT, "", "the path is empty"));
  if (text.size() > limits::kPathBytes) return fail(file_error(ENAMETOOLONG, "the path"));
  if (text.contains('\0')) return fail(file_error(EINVAL, "the path", "it contains a NUL byte"));
  if (text.front() != '/') {
    return fail(
        file_error(EINVAL, text, "paths are absolute: /host/<mount>/..., /tmp/..., /out/... or /mcps/..."));
  }
  return {};
}

bool ends_as_directory(std::string_view text) {
  return text.ends_with('/') || text.ends_with("/.") || text.ends_with("/..");
}

}  // namespace

FileResult<TreePath> parse_tree_path(std::string_view text) {
  RELAY_FILE_CHECK(check_text(text));
  TreePath path;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t slash = std::min(text.find('/', at), text.size());
    RELAY_FILE_CHECK(add_part(path, text.substr(at, slash - at)));
    at = slash + 1;
  }
  if (ends_as_directory(text)) path.ending = PathEnding::directory;
  return path;
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

bool is_beneath(const TreePath& path, const TreePath& ancestor) {
  return ancestor.parts.size() <= path.parts.size() &&
         std::equal(ancestor.parts.begin(), ancestor.parts.end(), path.parts.begin());
}

std::string join(std::string_view directory, std::string_view name) {
  if (directory.empty()) return std::string(name);
  if (name.empty()) return std::string(directory);
  std::string text;
  text.reserve(directory.size() + 1 + name.size());
  text.append(directory);
  if (!directory.ends_with('/')) text += '/';
  text.append(name);
  return text;
}

SplitPath split_last(std::string_view relative) {
  const std::size_t slash = relative.rfind('/');
  if (slash == std::string_view::npos) return {"", std::string(relative)};
  return {std::string(relative.substr(0, slash)), std::string(relative.substr(slash + 1))};
}

}  // namespace relay::vfs
