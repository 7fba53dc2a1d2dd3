#include "vfs/tree_path.h"

namespace relay::vfs {
namespace {

int number_of(policy::PathFault fault) {
  switch (fault) {
    case policy::PathFault::empty: return ENOENT;
    case policy::PathFault::too_long:
    case policy::PathFault::name_too_long: return ENAMETOOLONG;
    case policy::PathFault::has_nul:
    case policy::PathFault::relative: return EINVAL;
  }
  return EINVAL;
}

// What an error may repeat of a path that is no path.
std::string shown(std::string_view text, policy::PathFault fault) {
  constexpr std::size_t kShownBytes = 40;
  if (fault == policy::PathFault::relative) return std::string(text);
  if (fault == policy::PathFault::has_nul) return "the path";
  return text.size() > kShownBytes ? std::string(text.substr(0, kShownBytes)) + "..." : std::string(text);
}

}  // namespace

FileResult<TreePath> parse_tree_path(std::string_view text) {
  auto path = policy::parse_path(text);
  if (path) return *std::move(path);
  return fail(file_error(number_of(path.error()), shown(text, path.error()), policy::describe(path.error())));
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
