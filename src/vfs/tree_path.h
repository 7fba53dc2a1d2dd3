// TreePath: a path in Relay's tree, made clean before anything looks at it.
//
// Every path from outside goes through parse_tree_path once. What comes out has no empty, "." or ".." parts,
// no NUL, and no part that the kernel would refuse as too long. ".." is taken out by name ("/a/b/../c" is
// "/a/c") and stops at the root, as in POSIX; because symbolic links are resolved later and beneath the
// mount, this can change which file is meant but never where it may lie. Letters stay as they are: no case
// folding, no Unicode normalisation.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "vfs/file_error.h"

namespace relay::vfs {

enum class PathEnding : std::uint8_t {
  any,        // "/tmp/x"
  directory,  // "/tmp/x/": only a directory will do
};

struct TreePath {
  std::vector<std::string> parts;  // "/" has none
  PathEnding ending = PathEnding::any;

  /// "/tmp/x": always absolute, never with a slash at the end (but for the root).
  [[nodiscard]] std::string text() const;
  /// The parts from `first` on, joined with slashes: "" when there are none.
  [[nodiscard]] std::string below(std::size_t first) const;
};

FileResult<TreePath> parse_tree_path(std::string_view text);

/// Is `path` the same as `ancestor` or beneath it? Compares whole parts: /tmpfoo is not beneath /tmp.
bool is_beneath(const TreePath& path, const TreePath& ancestor);

/// "a/b" + "c" with exactly one slash; either may be empty.
std::string join(std::string_view directory, std::string_view name);

struct SplitPath {
  std::string directory;  // "" for the root
  std::string name;
};
/// "a/b/c" gives {"a/b", "c"}.
SplitPath split_last(std::string_view relative);

}  // namespace relay::vfs
