// RunHost: what one run can reach. Every request of a guest ends here; nothing that the guest says is
// believed.
//
// It lives as long as anything of the run does: a call that is still on a pool thread when the run ends finds
// its host alive.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "authority/recorded.h"
#include "codemode/run_servers.h"
#include "executors/run.h"
#include "io/thread_pool.h"
#include "protocol/content.h"
#include "runs/code_result.h"
#include "vfs/guest_files.h"

namespace relay::runs {

/// The network as a run sees it: `fetch`, `fetch.read`, `fetch.write` and `fetch.close`.
class RunNetwork {
 public:
  virtual ~RunNetwork() = default;
  virtual io::Task<executors::HostReply> call(executors::HostCall call) = 0;
};

/// A call of a guest that changes a file or directory; the paths as the guest spells them.
struct FileChange {
  std::string op;  // "fs.write"; empty: the call changes nothing
  std::string path;
  std::string to = {};  // of fs.rename
  std::uint64_t bytes = 0;
};
using FileOutcome = vfs::FileResult<vfs::GuestReply>;

class RunHost final : public executors::HostCalls {
 public:
  /// `servers` may be null: then there are none. Files of the host that the guest changes are effects of the
  /// recorded call.
  RunHost(const authority::Recorded& recorded, io::ThreadPool& pool, std::shared_ptr<vfs::Tree> tree,
          std::shared_ptr<RunNetwork> network, std::shared_ptr<codemode::RunServers> servers)
      : effects_(recorded.effects()),
        pool_(pool),
        tree_(std::move(tree)),
        files_(std::make_shared<vfs::GuestFiles>(tree_)),
        network_(std::move(network)),
        servers_(std::move(servers)) {}

  io::Task<executors::HostReply> call(executors::HostCall call, executors::HostStream& stream) override;
  /// Where more standard input comes from; it may block, on the pool. Without it the input ends with what
  /// came with the run.
  void set_input(std::function<Result<std::string>()> read) { read_input_ = std::move(read); }

  /// The files under /out that this run wrote and that are still there, by path.
  io::Task<std::vector<Artifact>> artifacts();
  /// What display() was given, in order.
  [[nodiscard]] std::vector<protocol::Content> take_displayed() { return std::move(displayed_); }

 private:
  io::Task<executors::HostReply> file_call(executors::HostCall call);
  io::Task<executors::HostReply> display(executors::HostCall call);
  io::Task<executors::HostReply> input();
  io::Task<executors::HostReply> mcp_call(executors::HostCall call);
  void note_output(std::string_view path);
  void note_change(const FileChange& change, const FileOutcome& done);

  std::shared_ptr<authority::Effects> effects_;
  io::ThreadPool& pool_;
  std::shared_ptr<vfs::Tree> tree_;
  std::shared_ptr<vfs::GuestFiles> files_;
  std::shared_ptr<RunNetwork> network_;
  std::shared_ptr<codemode::RunServers> servers_;
  std::function<Result<std::string>()> read_input_;
  std::set<std::string, std::less<>> outputs_;
  std::vector<protocol::Content> displayed_;
  std::size_t displayed_bytes_ = 0;  // as the answer holds them
};

}  // namespace relay::runs
