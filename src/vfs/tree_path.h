// Paths of the tree as vfs/ uses them: policy::TreePath with the errors of files, and relative paths. Pure. A
// path that is not absolute, climbs above the root or holds a NUL is a FileError with the errno that a guest
// sees.
#pragma once

#include <string>
#include <string_view>

#include "policy/tree_path.h"
#include "vfs/file_error.h"

namespace relay::vfs {

using policy::is_below;
using policy::PathEnding;
using policy::TreePath;

/// policy::parse_path, with the errno that a guest sees.
FileResult<TreePath> parse_tree_path(std::string_view text);

/// "a/b" + "c" with exactly one slash; either may be empty.
std::string join(std::string_view directory, std::string_view name);

struct SplitPath {
  std::string directory;  // "" for the root
  std::string name;
};
/// "a/b/c" gives {"a/b", "c"}.
SplitPath split_last(std::string_view relative);

}  // namespace relay::vfs
