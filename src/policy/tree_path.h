// TreePath: a path in Relay's tree, made clean before anything looks at it. The only path normaliser.
//
// Every path from outside goes through parse_path once. What comes out has no empty, "." or ".." parts, no
// NUL, and no part that the kernel would refuse as too long. ".." is taken out by name ("/a/b/../c" is
// "/a/c") and stops at the root, as in POSIX; because symbolic links are resolved later and beneath the
// mount, this can change which file is meant but never where it may lie. Letters stay as they are: no case
// folding, no Unicode normalisation.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace relay::policy {

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

enum class PathFault : std::uint8_t { empty, too_long, has_nul, relative, name_too_long };

/// "it contains a NUL byte": one clause for an error message.
std::string_view describe(PathFault fault);

std::expected<TreePath, PathFault> parse_path(std::string_view text);

/// Is `path` the same as `root` or below it? Compares whole parts: /tmpfoo is not below /tmp. Both are texts
/// of a TreePath.
bool is_below(std::string_view path, std::string_view root);

}  // namespace relay::policy
