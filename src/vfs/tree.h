// Tree: what tools and guests see as "the files".
//
//   /host/<name>   mounted directories of the host, read-only unless the mount says rw
//   /tmp  /out     the workspace: writable, kept, under a quota
//   /mcps          synthetic, from the upstream servers; read-only but for its special files
//
// A Tree is a view: it shares its mounts with other views, and `narrowed` gives a stricter one (a client's
// own policy). A path may be used when every policy of the view allows it, then the mount's mode, then its
// rules; deny beats allow. All functions block (disk) and are safe from several threads; the loop uses
// AsyncTree. Errors speak of tree paths, never of host paths.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "vfs/mount.h"
#include "vfs/synthetic.h"
#include "vfs/tree_path.h"

namespace relay::vfs {

/// policy.filesystem of the configuration or of a call: tree paths, each with all that is beneath it.
/// A path must be beneath an entry of one list to be read, and of `writable` to be written.
struct PathPolicySpec {
  std::vector<std::string> readonly;
  std::vector<std::string> writable;
};

class PathPolicy {
 public:
  static Result<PathPolicy> parse(const PathPolicySpec& spec);
  [[nodiscard]] bool allows_reading(const TreePath& path) const;
  [[nodiscard]] bool allows_writing(const TreePath& path) const;
  /// May this directory be passed through, because something beneath it may be read?
  [[nodiscard]] bool allows_passing(const TreePath& path) const;

 private:
  std::vector<TreePath> readonly_, writable_;
};

/// The parts a tree is made of. Any may be missing.
struct TreeParts {
  std::vector<std::shared_ptr<Mount>> host;  // each as /host/<its name>
  std::shared_ptr<Mount> tmp, out;
  std::shared_ptr<SyntheticDir> mcps;
};

class Tree {
 public:
  explicit Tree(TreeParts parts);

  /// The same files under one more policy.
  [[nodiscard]] Tree narrowed(PathPolicy policy) const;

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
  [[nodiscard]] bool allows_reading(const TreePath& path) const;
  [[nodiscard]] bool allows_passing(const TreePath& path) const;
  [[nodiscard]] const TreeParts& parts() const { return parts_; }

 private:
  [[nodiscard]] FileResult<Place> place_to_write(std::string_view path) const;
  [[nodiscard]] FileResult<DirectoryListing> list_virtual(const TreePath& path) const;

  TreeParts parts_;
  std::vector<PathPolicy> policies_;
};

}  // namespace relay::vfs
