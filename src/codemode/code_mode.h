// CodeMode: upstream servers for programs. What app/ builds once: it opens the servers for each run, shows
// them as files, keeps what is known of them on disk, and answers calls over HTTP. Loop thread only, except
// for files().
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/log.h"
#include "codemode/mcps_dir.h"
#include "codemode/rpc_endpoint.h"
#include "codemode/run_servers.h"
#include "codemode/run_tokens.h"
#include "io/thread_pool.h"

namespace relay::codemode {

struct CodeModeOptions {
  std::filesystem::path state;         // what was learned
  std::filesystem::path declarations;  // .relay/mcp: for people and their editors
  bool require_servers = false;        // policy.requireServers
};

class CodeMode final {
 public:
  /// All must outlive it.
  CodeMode(io::Loop executor, upstream::Fleet& fleet, pipeline::GuardedBackend& backend, io::ThreadPool& pool,
           RandomSource& random, CodeModeOptions options);
  ~CodeMode();
  CodeMode(const CodeMode&) = delete;
  CodeMode& operator=(const CodeMode&) = delete;

  /// The servers of one run: see RunServers::open.
  Result<std::shared_ptr<RunServers>> open_run(serving::Context& context, std::string run,
                                               const std::optional<std::vector<std::string>>& named);

  /// What /mcps is.
  [[nodiscard]] std::shared_ptr<vfs::SyntheticDir> files() const { return files_; }
  /// A run may call only the servers that its call names (policy.requireServers).
  [[nodiscard]] bool requires_servers() const { return options_.require_servers; }
  [[nodiscard]] RunTokens& tokens() { return tokens_; }
  [[nodiscard]] RpcEndpoint& endpoint() { return endpoint_; }
  [[nodiscard]] ToolCatalogs& books() { return books_; }

  /// Writes what was learned and is not on disk yet. Blocks; for the end of the program.
  void save();

 private:
  void learned_of(const std::string& server);
  /// Writes the declarations of these servers and what was learned, after a pause in which more may come.
  void write_soon(const std::string& server);
  io::Task<void> write_files();

  io::Loop executor_;
  io::ThreadPool& pool_;
  CodeModeOptions options_;
  std::shared_ptr<LearnedTypes> learned_;
  ToolCatalogs books_;
  std::shared_ptr<const RunWorld> world_;
  std::shared_ptr<vfs::SyntheticDir> files_;
  RunTokens tokens_;
  RpcEndpoint endpoint_;
  std::set<std::string> unwritten_;  // servers whose declarations are old
  bool writing_ = false;
  io::CancelSource stop_;
  std::shared_ptr<const upstream::FleetSink> subscription_;  // last: it goes first
};

}  // namespace relay::codemode
