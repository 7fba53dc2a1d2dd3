// Tree: what tools and guests see as "the files".
//
//   /host/<name>   mounted directories of the host, read-only unless the mount says rw
//   /tmp  /out     the workspace: writable, kept, under a quota
//   /tmp/.relay    what programs of one client keep for later ones: never shared with other clients
//   /mcps          synthetic, from the upstream servers; read-only but for its special files
//
// A Tree is a view: it shares its mounts with other views, and `narrowed` gives a stricter one (a client's
// own policy). A path may be used when every policy of the view allows it, as given and where its links lead;
// then come the mount's mode and its rules; deny beats allow. All functions block (disk) and are safe from
// several threads; the loop uses AsyncTree. Errors speak of tree paths, never of host paths.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "policy/filesystem_policy.h"
#include "vfs/mount.h"
#include "vfs/synthetic.h"
#include "vfs/tree_path.h"

namespace relay::vfs {

/// A mount whose directory is made at its first use: most clients keep nothing. Safe from any thread.
class LazyMount {
 public:
  explicit LazyMount(std::function<Result<std::shared_ptr<Mount>>()> open) : open_(std::move(open)) {}
  Result<std::shared_ptr<Mount>> get();
  /// Whether this is the mount, which was used before then.
  [[nodiscard]] bool is(const std::shared_ptr<Mount>& mount) const;

 private:
  std::function<Result<std::shared_ptr<Mount>>()> open_;
  mutable std::mutex mutex_;
  std::shared_ptr<Mount> mount_;
};

/// The parts a tree is made of. Any may be missing.
struct TreeParts {
  std::vector<std::shared_ptr<Mount>> host;  // each as /host/<its name>
  std::shared_ptr<Mount> tmp, out;
  std::shared_ptr<LazyMount> state;  // /tmp/.relay: the client's own, also where clients share /tmp
  std::shared_ptr<SyntheticDir> mcps;
};

class Tree {
 public:
  explicit Tree(TreeParts parts);

  /// The same files under one more policy.
  [[nodiscard]] Tree narrowed(policy::FilesystemPolicy policy) const;

  /// Asked before a change of anything below /host, with the tree path. Safe from any thread.
  using WriteGuard = std::function<bool(std::string_view tree_path)>;
  /// The same files, where changes below /host need the guard's consent too.
  [[nodiscard]] Tree guarded(WriteGuard guard) const;

  [[nodiscard]] FileResult<FileStat> stat(std::string_view path, LastLink last = LastLink::follow) const;
  [[nodiscard]] FileResult<DirectoryListing> list(std::string_view path,
                                                  std::size_t entries_max = limits::kListEntries) const;
  [[nodiscard]] FileResult<ReadChunk> read(std::string_view path, std::uint64_t offset,
                                           std::size_t length) const;
  FileResult<WriteReceipt> write(const WriteRequest& request);
  FileResult<> truncate(std::string_view path, std::uint64_t size);
  FileResult<> make_dir(std::string_view path, Depth depth);
  FileResult<> remove(std::string_view path, Depth depth);
  FileResult<> rename(std::string_view from, std::string_view to);

  /// How dangerous a write to this path is: workspace writes stay in the workspace.
  enum class Area : std::uint8_t { none, workspace, host, synthetic };
  [[nodiscard]] Area area_of(std::string_view path) const;

  /// Where a path lies. Exactly one of mount and synthetic is set, or neither for "/" and "/host".
  struct Place {
    TreePath tree_path;
    std::shared_ptr<Mount> mount;
    std::shared_ptr<SyntheticDir> synthetic;
    std::string path;  // relative to the mount or synthetic directory
  };
  [[nodiscard]] FileResult<Place> find_place(std::string_view path) const;
  [[nodiscard]] std::string places() const;
  /// find_place, and the policies allow reading (or, for directories, passing through).
  [[nodiscard]] FileResult<Place> place_to_read(std::string_view path) const;
  /// By the policies alone; a tree path without links.
  [[nodiscard]] bool allows_reading(std::string_view path) const;
  [[nodiscard]] bool allows_reading_all_below(std::string_view path) const;
  [[nodiscard]] bool allows_passing(std::string_view path) const;
  /// What the place's mount asks about paths of its own. The tree must outlive it.
  [[nodiscard]] PathJudge judge_of(const Place& place) const;
  [[nodiscard]] const TreeParts& parts() const { return parts_; }

 private:
  [[nodiscard]] FileResult<Place> place_to_write(std::string_view path) const;
  [[nodiscard]] FileResult<DirectoryListing> list_virtual(const TreePath& path) const;
  [[nodiscard]] bool allows(std::string_view path, PathUse use) const;

  TreeParts parts_;
  std::vector<policy::FilesystemPolicy> policies_;
  WriteGuard guard_;
};

}  // namespace relay::vfs
