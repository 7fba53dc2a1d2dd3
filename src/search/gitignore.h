// .gitignore and .ignore: which files a search leaves out unless told otherwise.
//
// IgnoreFile is one such file: the last rule that matches decides, "!" takes back, a slash that is not at the
// end anchors the rule to the file's directory, a slash at the end means directories only, and the rest is
// git's own language (see gitignore(5)). IgnoreChain stacks the files of a directory on those above it: the
// nearest directory with an opinion decides, .ignore files decide before .gitignore files (as in ripgrep, so
// that they can override what git is told), and a directory that holds .git starts a new repository:
// .gitignore files above it have no say. A file in an ignored directory cannot be taken back, because nobody
// looks inside.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/glob.h"
#include "vfs/file_info.h"

namespace relay::search {

enum class IgnoreVerdict : std::uint8_t { none, ignored, kept };  // kept: a "!" rule matched

class IgnoreFile {
 public:
  /// Lines that make no sense are skipped, as git does.
  static IgnoreFile parse(std::string_view text);

  /// path is relative to the directory of the file.
  [[nodiscard]] IgnoreVerdict judge(std::string_view path, vfs::FileType type) const;
  [[nodiscard]] bool empty() const { return rules_.empty(); }

 private:
  struct Rule {
    Glob glob;
    bool negated, directories_only, anchored;
  };
  static std::optional<Rule> find_rule(std::string_view line);
  std::vector<Rule> rules_;
};

/// Immutable and shared by the threads of a search.
class IgnoreChain {
 public:
  struct Level {
    std::string directory;  // relative to the mount; "" is its root
    IgnoreFile gitignore, ignore;
    bool is_repository = false;  // has .git
  };
  IgnoreChain(Level level, std::shared_ptr<const IgnoreChain> above)
      : level_(std::move(level)), above_(std::move(above)) {}

  /// path is relative to the mount. Directories above it are taken as not ignored.
  [[nodiscard]] bool ignores(std::string_view path, vfs::FileType type) const;

 private:
  Level level_;
  std::shared_ptr<const IgnoreChain> above_;
};

}  // namespace relay::search
