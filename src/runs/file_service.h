// FileService: the files of one run: its workspace and the mounts, as far as the run's policy shows them.
//
// What the guest changes on a mount is an effect of the recorded call, refusals of a policy included. What it
// writes below /out is remembered for the result. Loop thread only; the work is done on the pool.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "authority/recorded.h"
#include "io/thread_pool.h"
#include "runs/code_result.h"
#include "runs/host_service.h"
#include "vfs/guest_files.h"

namespace relay::runs {

/// A call of a guest that changes a file or directory; the paths as the guest spells them.
struct FileChange {
  std::string op;  // "fs.write"; empty: the call changes nothing
  std::string path;
  std::string to = {};  // of fs.rename
  std::uint64_t bytes = 0;
};

class FileService final : public HostService {
 public:
  FileService(const authority::Recorded& recorded, io::ThreadPool& pool, std::shared_ptr<vfs::Tree> tree)
      : effects_(recorded.effects()),
        pool_(pool),
        tree_(std::move(tree)),
        files_(std::make_shared<vfs::GuestFiles>(tree_)) {}

  [[nodiscard]] bool handles(std::string_view op) const override { return vfs::GuestFiles::handles(op); }
  io::Task<executors::HostReply> call(executors::HostCall call) override;
  /// The files under /out that this run wrote and that are still there, by path.
  io::Task<std::vector<Artifact>> artifacts();

 private:
  using Done = vfs::FileResult<vfs::GuestReply>;
  void note_output(std::string_view path);
  void note_change(const FileChange& change, const Done& done);

  std::shared_ptr<authority::Effects> effects_;
  io::ThreadPool& pool_;
  std::shared_ptr<vfs::Tree> tree_;
  std::shared_ptr<vfs::GuestFiles> files_;
  std::set<std::string, std::less<>> outputs_;
};

/// What the guest sees of a failed file operation.
executors::HostReply failed_reply(const vfs::FileError& error);

}  // namespace relay::runs
