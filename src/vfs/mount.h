// Mount: one directory of the host as a part of the tree, with its mode, rules and quota.
//
// A MountSpec is what the configuration says; Mount::open turns it into something that can be used. Paths
// here are relative to the mount and clean. All functions block and are safe from several threads.
#pragma once

#include <atomic>
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

struct MountSpec {
  std::string name;       // /host/<name>
  std::string host_path;  // absolute, or relative to the working directory
  MountMode mode = MountMode::ro;
  std::vector<std::string> allow, deny;  // see rules.h
  Symlinks symlinks = Symlinks::follow;
};

class Mount {
 public:
  static Result<std::shared_ptr<Mount>> open(MountSpec spec, std::shared_ptr<Quota> quota = nullptr);

  [[nodiscard]] FileResult<FileStat> stat(std::string_view path, LastLink last) const;
  [[nodiscard]] FileResult<DirectoryListing> list(std::string_view path, std::size_t entries_max) const;
  [[nodiscard]] FileResult<ReadChunk> read(std::string_view path, std::uint64_t offset,
                                           std::size_t length) const;
  FileResult<WriteReceipt> write(std::string_view path, const WriteRequest& request);
  FileResult<> truncate(std::string_view path, std::uint64_t size);
  FileResult<> make_dir(std::string_view path, Depth depth);
  FileResult<> remove(std::string_view path, Depth depth);
  /// Between two mounts only when they share a quota (/tmp and /out); otherwise EXDEV, as between two disks.
  static FileResult<> rename(Mount& from, std::string_view old_path, Mount& to, std::string_view new_path);

  [[nodiscard]] const MountSpec& spec() const { return spec_; }
  [[nodiscard]] const ConfinedDir& dir() const { return dir_; }
  [[nodiscard]] const MountRules& rules() const { return rules_; }
  [[nodiscard]] bool writable() const { return spec_.mode == MountMode::rw; }

  /// The link-free path that `path` leads to, checked against the rules: for walking and watching.
  [[nodiscard]] FileResult<std::string> real_path(std::string_view path) const;

 private:
  Mount(MountSpec spec, ConfinedDir dir, MountRules rules, std::shared_ptr<Quota> quota);

  enum class Check : std::uint8_t {
    full,     // the rules allow the path itself
    passing,  // or it is a directory on the way to something that they allow
  };
  [[nodiscard]] FileResult<> check_rules(std::string_view path, Check check) const;
  [[nodiscard]] FileResult<> check_writable(std::string_view path) const;

  /// Runs op(path) and, when links are in the way and may be followed, again with the path they lead to.
  /// Every path that op sees has been checked.
  template <class Op>
  auto at(std::string_view path, LastLink last, Check check, Op op) const
      -> std::invoke_result_t<Op&, const std::string&> {
    constexpr int kAttempts = 16;  // someone who keeps swapping links under us gets ELOOP
    RELAY_FILE_CHECK(check_rules(path, check));
    auto result = op(std::string(path));
    for (int attempt = 0; attempt < kAttempts && !result && result.error().number == ELOOP; ++attempt) {
      if (spec_.symlinks == Symlinks::forbid) break;
      RELAY_FILE_TRY(const std::string real, dir_.resolve(path, last));
      RELAY_FILE_CHECK(check_rules(real, check));
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
  FileResult<> remove_one(const std::string& path, Depth depth);
  static FileResult<> rename_one(Mount& from, const std::string& old_path, Mount& to,
                                 const std::string& new_path);

  MountSpec spec_;
  ConfinedDir dir_;
  MountRules rules_;
  std::shared_ptr<Quota> quota_;  // none on host mounts
  std::atomic<std::uint64_t> temporaries_ = 0;
};

}  // namespace relay::vfs
