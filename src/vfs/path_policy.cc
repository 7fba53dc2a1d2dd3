#include <algorithm>

#include <fmt/format.h>

#include "vfs/tree.h"

namespace relay::vfs {
namespace {

Result<std::vector<TreePath>> parse_paths(const std::vector<std::string>& texts) {
  std::vector<TreePath> paths;
  for (const std::string& text : texts) {
    auto path = parse_tree_path(text);
    if (!path) return relay::fail(invalid(fmt::format("policy.filesystem: {}", path.error().message)));
    paths.push_back(std::move(*path));
  }
  return paths;
}

bool has_ancestor(const std::vector<TreePath>& ancestors, const TreePath& path) {
  return std::any_of(ancestors.begin(), ancestors.end(),
                     [&](const TreePath& ancestor) { return is_beneath(path, ancestor); });
}

bool has_descendant(const std::vector<TreePath>& paths, const TreePath& directory) {
  return std::any_of(paths.begin(), paths.end(),
                     [&](const TreePath& path) { return is_beneath(path, directory); });
}

}  // namespace

Result<PathPolicy> PathPolicy::parse(const PathPolicySpec& spec) {
  PathPolicy policy;
  RELAY_TRY(policy.readonly_, parse_paths(spec.readonly));
  RELAY_TRY(policy.writable_, parse_paths(spec.writable));
  return policy;
}

bool PathPolicy::allows_reading(const TreePath& path) const {
  return has_ancestor(readonly_, path) || has_ancestor(writable_, path);
}

bool PathPolicy::allows_writing(const TreePath& path) const {
  return has_ancestor(writable_, path);
}

bool PathPolicy::allows_passing(const TreePath& path) const {
  return allows_reading(path) || has_descendant(readonly_, path) || has_descendant(writable_, path);
}

}  // namespace relay::vfs
