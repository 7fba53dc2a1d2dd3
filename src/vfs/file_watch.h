// FileWatcher: says when files change, through inotify.
//
// A file is watched through its directory, so that it is also seen when an editor replaces it; a directory is
// watched for names that come and go. The directory is opened as everything is (confined_dir.h) and handed to
// inotify by its descriptor, so a watch cannot be led astray by a link. Reports are merged: after each there
// is a short pause, and whatever happens to a key in it is one report, so a file that is written in a loop
// does not flood anybody. What happens through the network on a remote file system, or to a file of the same
// name in another directory that takes the directory's place, is not seen. Loop thread only.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include <boost/asio/posix/stream_descriptor.hpp>

#include "base/fd.h"
#include "io/task.h"
#include "vfs/tree.h"

namespace relay::vfs {

/// What is needed to watch a path; made on a pool thread because it touches the disk.
struct WatchTarget {
  Fd directory;
  std::string name;  // of the file in it; empty: the directory itself
};
FileResult<WatchTarget> open_watch_target(const Tree& tree, std::string_view path);

class FileWatcher {
 public:
  using Changed = std::function<void(const std::string& key)>;

  static Result<std::unique_ptr<FileWatcher>> open(io::Loop executor, Changed changed);
  ~FileWatcher();

  /// key is the caller's name for it; watching a key again replaces it. Fails when there are too many.
  Result<void> watch(std::string key, const WatchTarget& target);
  void unwatch(std::string_view key);
  [[nodiscard]] bool is_watched(std::string_view key) const { return watched_.contains(key); }
  [[nodiscard]] std::size_t size() const { return watched_.size(); }

 private:
  struct State;
  struct Watched {
    int descriptor;
    std::string name;
  };
  void forget(const std::string& key, int descriptor);
  FileWatcher(io::Loop executor, Fd inotify, Changed changed);
  static io::Task<void> run(std::shared_ptr<State> state);

  std::shared_ptr<State>
      state_;  // shared with the reading coroutine, which may outlive us by one turn of the loop
  std::map<std::string, Watched, std::less<>> watched_;
  std::map<int, std::set<std::string>>
      keys_;  // by descriptor: a directory has one, however many of its files are watched
  friend struct State;
};

}  // namespace relay::vfs
