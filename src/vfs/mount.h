// Mount: one directory of the host as a part of the tree, with its mode, rules and quota.
//
// A MountSpec is what the configuration says; Mount::open turns it into something that can be used. Paths
// here are relative to the mount and clean. All functions block and are safe from several threads.
//
// A mount has its own rules and asks besides them the PathJudge of the view that calls it: about the path as
// given, about each link on the way, and about the place that the links lead to.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "vfs/confined_dir.h"
#include "vfs/file_info.h"
#include "vfs/mount_rules.h"
#include "vfs/quota.h"

namespace relay::vfs {

enum class MountMode : std::uint8_t { ro, rw };
enum class Symlinks : std::uint8_t {
  follow,  // links that stay beneath the mount work, others are EXDEV
  forbid,  // every link is ELOOP
};

/// What a caller wants with a path.
enum class PathUse : std::uint8_t {
  pass,       // see that the directory is there, on the way to something
  read,       // read it, or follow the link that it is
  write,      // change it
  write_all,  // change it and everything beneath it at once
};

/// May this path of the mount be used so? Empty: every path may. Called while the mount's function runs.
using PathJudge = std::function<bool(std::string_view path, PathUse use)>;

struct MountSpec {
  std::string name;       // /host/<name>
  std::string host_path;  // absolute, or relative to the working directory
  MountMode mode = MountMode::ro;
  std::vector<std::string> allow, deny;  // see rules.h
  Symlinks symlinks = Symlinks::follow;
  std::shared_ptr<const HiddenFiles> hidden = nullptr;  // what is not shown, whatever the rules say

  bool operator==(const MountSpec&) const = default;
};

class Mount {
 public:
  static Result<std::shared_ptr<Mount>> open(MountSpec spec, std::shared_ptr<Quota> quota = nullptr);

  [[nodiscard]] FileResult<FileStat> stat(std::string_view path, LastLink last,
                                          const PathJudge& judge = {}) const;
  /// Without the entries that the judge lets nobody read or pass.
  [[nodiscard]] FileResult<DirectoryListing> list(std::string_view path, std::size_t entries_max,
                                                  const PathJudge& judge = {}) const;
  [[nodiscard]] FileResult<ReadChunk> read(std::string_view path, std::uint64_t offset, std::size_t length,
                                           const PathJudge& judge = {}) const;
  FileResult<WriteReceipt> write(std::string_view path, const WriteRequest& request,
                                 const PathJudge& judge = {});
  FileResult<> truncate(std::string_view path, std::uint64_t size, const PathJudge& judge = {});
  FileResult<> make_dir(std::string_view path, Depth depth, const PathJudge& judge = {});
  FileResult<> remove(std::string_view path, Depth depth, const PathJudge& judge = {});
  /// Between two mounts only when they share a quota (/tmp and /out); otherwise EXDEV, as between two disks.
  /// How the judges are asked about what lies in a directory that is renamed.
  enum class Beneath : std::uint8_t {
    at_once,     // by PathUse::write_all
    one_by_one,  // under the old and the new name of each, because the judge knows single paths only
  };
  struct RenameEnd {
    Mount& mount;
    std::string_view path;
    const PathJudge& judge;
  };
  static FileResult<> rename(const RenameEnd& from, const RenameEnd& to, Beneath beneath = Beneath::at_once);

  [[nodiscard]] const MountSpec& spec() const { return spec_; }
  [[nodiscard]] const ConfinedDir& dir() const { return dir_; }
  [[nodiscard]] const MountRules& rules() const { return rules_; }
  [[nodiscard]] bool writable() const { return spec_.mode == MountMode::rw; }

  /// The link-free path that `path` leads to, checked against the rules: for walking and watching.
  [[nodiscard]] FileResult<std::string> real_path(std::string_view path, const PathJudge& judge = {}) const;

 private:
  Mount(MountSpec spec, ConfinedDir dir, MountRules rules, std::shared_ptr<Quota> quota);

  enum class Check : std::uint8_t {
    full,     // the rules allow the path itself
    passing,  // or it is a directory on the way to something that they allow
  };
  [[nodiscard]] FileResult<> check_rules(std::string_view path, Check check) const;
  [[nodiscard]] FileResult<> check_writable(std::string_view path) const;
  /// Nothing hidden stands at the name, and nothing may be put there.
  [[nodiscard]] FileResult<> check_free(const Fd& parent, const std::string& name,
                                        std::string_view path) const;
  /// The name is neither hidden nor on the way to something hidden.
  [[nodiscard]] FileResult<> check_movable(const Fd& parent, const std::string& name,
                                           std::string_view path) const;
  static FileResult<> check_use(const PathJudge& judge, std::string_view path, PathUse use);

  /// How a path is checked before it is used.
  struct Checks {
    LastLink last;
    Check rules;
    PathUse use;
    const PathJudge& judge;
  };

  /// Runs op(path) and, when links are in the way and may be followed, again with the path they lead to.
  /// Every path that op sees has been checked.
  template <class Op>
  auto at(std::string_view path, const Checks& checks, Op op) const
      -> std::invoke_result_t<Op&, const std::string&> {
    constexpr int kAttempts = 16;  // someone who keeps swapping links under us gets ELOOP
    const auto check = [&](std::string_view place) -> FileResult<> {
      RELAY_FILE_CHECK(check_rules(place, checks.rules));
      return check_use(checks.judge, place, checks.use);
    };
    const auto may_follow = [&](std::string_view link) -> FileResult<> {
      RELAY_FILE_CHECK(check_rules(link, Check::passing));
      return check_use(checks.judge, link, PathUse::read);
    };
    RELAY_FILE_CHECK(check(path));
    auto result = op(std::string(path));
    for (int attempt = 0; attempt < kAttempts && !result && result.error().number == ELOOP; ++attempt) {
      if (spec_.symlinks == Symlinks::forbid) break;
      RELAY_FILE_TRY(const std::string real, dir_.resolve(path, checks.last, may_follow));
      RELAY_FILE_CHECK(check(real));
      result = op(real);
    }
    return result;
  }

  FileResult<WriteReceipt> write_in_place(const std::string& path, const WriteRequest& request);
  FileResult<WriteReceipt> fill_in_place(const Fd& fd, const std::string& path, const WriteRequest& request,
                                         Quota::Change& change, WriteReceipt receipt) const;
  FileResult<WriteReceipt> replace(const std::string& path, const WriteRequest& request);
  FileResult<Fd> open_for_writing(const std::string& path, const WriteRequest& request, Quota::Change& change,
                                  bool& created) const;
  FileResult<Fd> make_temporary(const Fd& parent, std::string& name);
  FileResult<> make_one_dir(const std::string& path);
  FileResult<> remove_one(const std::string& path, Depth depth, const PathJudge& judge);
  static FileResult<> rename_one(const RenameEnd& source_end, const std::string& old_path,
                                 const RenameEnd& target_end, const std::string& new_path, Beneath beneath);

  MountSpec spec_;
  ConfinedDir dir_;
  MountRules rules_;
  std::shared_ptr<Quota> quota_;  // none on host mounts
  std::atomic<std::uint64_t> temporaries_ = 0;
};

}  // namespace relay::vfs
