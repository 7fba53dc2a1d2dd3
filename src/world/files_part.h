// FilesPart: the files that tools and guests see: mounts, workspaces, and what no mount shows.
#pragma once

#include <memory>

#include "io/thread_pool.h"
#include "vfs/hidden_files.h"
#include "vfs/workspace.h"
#include "world/part.h"
#include "world/services.h"

namespace relay::world {

class FilesPart final : public Part {
 public:
  /// `mcps` is what /mcps shows. Fails with the mount that cannot be opened.
  static Result<std::unique_ptr<FilesPart>> open(const config::Config& config, const Services& services,
                                                 std::shared_ptr<vfs::SyntheticDir> mcps);

  [[nodiscard]] vfs::Trees& trees() { return *trees_; }
  /// A pool of its own: a search takes seconds, and reading a file must not wait for it.
  [[nodiscard]] io::ThreadPool& search_pool() { return search_pool_; }
  /// After the configuration file was replaced it is refreshed.
  [[nodiscard]] const std::shared_ptr<vfs::HiddenFiles>& hidden() const { return hidden_; }

  /// mounts.
  void describe(tools::ServerInfo& info) const override;
  /// The mounts and policy.filesystem. A mount that cannot be opened is left out, and the log says why.
  void adopt(const config::Config& now) override;

 private:
  FilesPart(Log& log, std::shared_ptr<vfs::HiddenFiles> hidden, std::unique_ptr<vfs::Trees> trees);

  Log& log_;
  std::shared_ptr<vfs::HiddenFiles> hidden_;
  std::unique_ptr<vfs::Trees> trees_;
  io::ThreadPool search_pool_;
};

}  // namespace relay::world
