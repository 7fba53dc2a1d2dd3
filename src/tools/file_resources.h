// Files as MCP resources: relay://files/{path} reads any file of the caller's tree, and the mounts are listed.
//
// FileSubscriptions tells when a file changes or when names in a directory come and go; the backend's watch and
// unwatch go to it for URIs that start with relay://files/.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "authority/caller.h"
#include "pipeline/guarded_backend.h"
#include "tools/files_tools.h"
#include "vfs/file_watch.h"

namespace relay::tools {

/// The template, and one resource for each mount and for /tmp and /out.
void add_file_resources(pipeline::Toolset& toolset, std::shared_ptr<const FilesWorld> world);

class FileSubscriptions {
 public:
  using Updated = std::function<void(const std::string& uri)>;

  /// updated is called on the loop thread with the URI as it was subscribed to.
  static Result<std::unique_ptr<FileSubscriptions>> open(std::shared_ptr<const FilesWorld> world, io::Executor executor, Updated updated);

  [[nodiscard]] static bool handles(std::string_view uri);
  /// Fails when the file is not there or may not be read.
  io::Task<void> watch(const authority::Caller& caller, std::string uri);
  void unwatch(std::string_view uri);

 private:
  explicit FileSubscriptions(std::shared_ptr<const FilesWorld> world) : world_(std::move(world)) {}
  std::shared_ptr<const FilesWorld> world_;
  std::unique_ptr<vfs::FileWatcher> watcher_;
};

}  // namespace relay::tools
