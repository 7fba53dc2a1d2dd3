// Trees: opens the mounts of the configuration once and gives every session its tree. app/ owns it for the
// life of the process. Opening a tree blocks.
//
// Workspaces are directories under `<state>/workspace/`: `shared/{tmp,out}`, or one for each holder. The one
// of a session (`session-<hash>`) goes when the session ends, or when the server starts the next time; a
// client without sessions keeps its own (`client-<hash>`). Names are hashed, so a name that a client chose
// cannot become a path.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "authority/recorded.h"
#include "authority/unrecorded.h"
#include "base/limits.h"
#include "vfs/tree.h"

namespace relay::vfs {

enum class WorkspaceKind : std::uint8_t { shared, session };

/// Whose files they are: one client's, or one run's or guest session's where nothing tells the client from
/// others.
struct Holder : authority::ClientKey {
  Holder(authority::ClientKey key) : ClientKey(std::move(key)) {}  // NOLINT(google-explicit-constructor)
  bool is_scratch = false;                                         // one run's: nothing is kept for it
};

/// What app/ fills from the configuration.
struct TreeSpec {
  std::vector<MountSpec> mounts;
  std::string workspace_dir;  // ".relay/workspace"; made when missing
  WorkspaceKind workspace = WorkspaceKind::shared;
  Usage workspace_quota{limits::kWorkspaceBytes, limits::kWorkspaceFiles};
  std::optional<policy::FilesystemPolicy> policy = {};  // policy.filesystem; without one everything goes
  std::shared_ptr<const HiddenFiles> hidden = nullptr;  // see hidden_files.h
};

class Trees {
 public:
  /// mcps may be null. Fails with a sentence that names the mount or pattern that is wrong.
  static Result<std::unique_ptr<Trees>> open(TreeSpec spec, std::shared_ptr<SyntheticDir> mcps);
  /// Stops the counts of workspaces that are under way; those workspaces are full from then on.
  ~Trees() { stop_.request_stop(); }

  /// The tree of the caller of a record, made at its first use. With a shared workspace all have the same
  /// /tmp and /out; a caller that nothing tells from others has none otherwise. Files are read and written
  /// for recorded calls only.
  Result<std::shared_ptr<Tree>> open_tree(const authority::Recorded& recorded);
  /// The same for what a run sees, which has a holder of its own where its caller has none.
  Result<std::shared_ptr<Tree>> open_tree(const authority::Recorded& recorded, const Holder& holder);
  /// For names without contents: who lists resources has no record.
  Result<std::shared_ptr<Tree>> open_tree(const authority::Unrecorded& permit);
  /// Whether there are directories that are the holder's alone.
  [[nodiscard]] bool has_files(const Holder& holder);
  /// Forgets the holder's tree and deletes what was its alone, unless it may come back. Blocks.
  Result<void> close(const Holder& holder);

  /// Replaces the mounts and the policy. Trees that were handed out stay as they are; callers get another one
  /// with their next call, with the same workspace. A mount that did not change stays open. One that cannot
  /// be opened is left out, and the result says why. Loop thread only. Blocks for mounts that changed.
  std::vector<Error> change(std::vector<MountSpec> mounts, std::optional<policy::FilesystemPolicy> policy);

  /// The name of a holder's workspace: the same for those who share one, empty where there is none.
  [[nodiscard]] std::string workspace_name(const Holder& holder) const;

  /// Loop thread only.
  [[nodiscard]] const TreeSpec& spec() const { return spec_; }

 private:
  explicit Trees(TreeSpec spec) : spec_(std::move(spec)) {}
  void remove_old_sessions() const;
  Result<std::shared_ptr<Tree>> tree_of(const Holder& holder);
  Result<std::shared_ptr<Tree>> make_tree(const Holder& holder);
  [[nodiscard]] std::shared_ptr<Tree> tree_from(TreeParts parts) const;
  [[nodiscard]] Result<std::shared_ptr<Mount>> open_mount(const MountSpec& mount) const;
  [[nodiscard]] std::shared_ptr<Quota> quota_of(const std::string& directory, const Usage& quota) const;
  Result<void> add_areas(const std::string& workspace, const std::shared_ptr<Quota>& quota, TreeParts& parts);
  [[nodiscard]] std::string own_name(const Holder& holder) const;

  TreeSpec spec_;
  std::vector<std::shared_ptr<Mount>> host_;
  std::shared_ptr<SyntheticDir> mcps_;
  std::stop_source stop_;
  std::mutex mutex_;
  TreeParts shared_;  // /tmp and /out of a workspace that all share, once they were opened
  std::map<std::string, std::shared_ptr<Tree>, std::less<>> trees_;  // by own_name of the holder
  std::set<std::string, std::less<>> made_;  // own_names whose directories were made by this process
};

}  // namespace relay::vfs
