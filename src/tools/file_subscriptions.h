// FileSubscriptions: tells clients when files change, when names in a directory come and go, and when the
// list of resources changes because something appeared in /out or left it.
//
// Two callers who share a workspace share a watch; two who do not are two views, even under the same URI. The
// list of a view is watched once somebody of that view has asked for it: who never listed misses nothing.
// Loop thread only.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "authority/caller.h"
#include "pipeline/provider.h"
#include "tools/files_tools.h"
#include "vfs/file_watch.h"

namespace relay::tools {

class FileSubscriptions final : public pipeline::Provider {
 public:
  static Result<std::unique_ptr<FileSubscriptions>> open(std::shared_ptr<const FilesWorld> world,
                                                         const io::Loop& executor, protocol::EventSink tell);

  [[nodiscard]] std::optional<std::string> find_view(const authority::Caller& caller,
                                                     std::string_view uri) const override;
  /// Fails when the file is not there or may not be read.
  io::Task<bool> watch(const authority::Recorded& recorded, std::string uri) override;
  void unwatch(const authority::Caller& caller, std::string_view uri) override;
  /// Forgets the session's list.
  void session_ended(const authority::Caller& caller) override;

  /// What /out holds, for resources/list; from then on changes of it are reported.
  io::Task<void> append_changing(const authority::Caller& caller,
                                 std::vector<protocol::Resource>& out) override;

 private:
  explicit FileSubscriptions(std::shared_ptr<const FilesWorld> world) : world_(std::move(world)) {}
  io::Task<void> watch_path(std::shared_ptr<vfs::Tree> tree, std::string path, std::string key);
  [[nodiscard]] std::string view_of(const authority::Caller& caller) const;

  std::shared_ptr<const FilesWorld> world_;
  std::unique_ptr<vfs::FileWatcher> watcher_;
};

}  // namespace relay::tools
