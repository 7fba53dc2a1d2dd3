// HiddenFiles: what no mount shows, whatever its rules say: Relay's configuration file, its state, its
// workspaces. Paths do not decide, because a file has many: a hidden file or directory is known by its device
// and inode, so a hard link, a symbolic link, a bind mount or a renamed parent leads to the same refusal.
//
//   hidden   the thing itself, and for a directory everything beneath it
//   named    an entry (parent directory, name): nothing is made, put or found there, also while the file is
//            missing or has just been replaced
//   pinned   the directories and links on the way: they are used as usual, but neither renamed nor removed,
//            because another directory could then be put in their place
//
// Shared by all mounts and refreshed when the configuration file was replaced. Safe from any thread.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <chrono>
#include <compare>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"

namespace relay::vfs {

class HiddenFiles {
 public:
  /// Files and directories, there or not; "log*" is every name that begins with "log". Blocks, as refresh
  /// does.
  explicit HiddenFiles(std::vector<std::filesystem::path> paths);

  /// Looks at the paths again: a file that was replaced has another inode.
  void refresh();

  [[nodiscard]] bool hides(const struct ::stat& status) const;
  [[nodiscard]] bool hides_name(const struct ::stat& parent, std::string_view name) const;
  [[nodiscard]] bool pins(const struct ::stat& status) const;

  /// Whether the entry of an open directory is hidden, by its name or by what it is.
  [[nodiscard]] bool hides_entry(const Fd& directory, const char* name) const;
  /// The directory itself, or one above it, is hidden. Walks up to the root of the file system.
  [[nodiscard]] bool holds(const Fd& directory) const;

 private:
  struct Id {
    dev_t device = 0;
    ino_t inode = 0;
    friend auto operator<=>(const Id&, const Id&) = default;
  };
  struct Named {
    Id parent;
    std::string name;
    enum class Match : std::uint8_t { whole, beginning } match = Match::whole;
    [[nodiscard]] bool covers(std::string_view other) const {
      return match == Match::whole ? other == name : other.starts_with(name);
    }
  };
  struct Snapshot {
    std::vector<Id> hidden;  // sorted
    std::vector<Id> pinned;  // sorted
    std::vector<Named> named;
  };
  static Id id_of(const struct ::stat& status) { return {status.st_dev, status.st_ino}; }
  static void look_at(const std::filesystem::path& path, Snapshot& out);
  [[nodiscard]] std::shared_ptr<const Snapshot> snapshot() const;
  [[nodiscard]] bool hides_link(Id id) const;

  const std::vector<std::filesystem::path> paths_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Snapshot> snapshot_;
  // What lies in hidden directories, for files that have more than one name.
  mutable std::vector<Id> inside_;
  mutable std::chrono::steady_clock::time_point inside_at_{};
};

}  // namespace relay::vfs
