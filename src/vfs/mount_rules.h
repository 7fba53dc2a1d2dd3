// MountRules: which paths of a mount are visible at all. Deny beats allow.
//
// A pattern without a slash ("*.pem", ".env") means a name at any depth; one with a slash ("src/**",
// "/build") starts at the mount's root. A pattern that matches a directory covers everything beneath it. No
// allow pattern at all means that everything is allowed which is not denied. MountRules look at the whole
// path, part by part, and are asked again with the real path after symbolic links were resolved.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/glob.h"

namespace relay::vfs {

class MountRules {
 public:
  static Result<MountRules> parse(const std::vector<std::string>& allow,
                                  const std::vector<std::string>& deny);

  /// May this path be used? path is relative to the mount, "" is its root.
  [[nodiscard]] bool allows(std::string_view path) const;
  /// May this directory be listed and walked, because something beneath it could be allowed?
  [[nodiscard]] bool allows_passing(std::string_view directory) const;
  [[nodiscard]] bool empty() const { return allow_.empty() && deny_.empty(); }

 private:
  struct Pattern {
    Glob glob;
    bool any_depth;
  };
  using Patterns = std::vector<Pattern>;

  static Result<Patterns> parse_patterns(const std::vector<std::string>& texts);
  /// Does a pattern match the path or one of the directories that it lies in?
  static bool covers(const Patterns& patterns, std::string_view path);

  Patterns allow_, deny_;
};

}  // namespace relay::vfs
