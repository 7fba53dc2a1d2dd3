#include "vfs/deep_walk.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "vfs/dir_reader.h"

namespace relay::vfs {
namespace {

// A directory on the way down, and what is left to do in it.
struct Level {
  dev_t device = 0;
  ino_t inode = 0;
  std::vector<std::string> below;  // subdirectories that are not visited yet; the last one is the next
};

class DeepWalk {
 public:
  DeepWalk(Fd directory, const WalkSteps& steps) : current_(std::move(directory)), steps_(steps) {}

  WalkEnd run() {
    if (!enter()) return WalkEnd::failed;
    while (!levels_.empty()) {
      if (steps_.stop.stop_requested()) return WalkEnd::stopped;
      if (!(levels_.back().below.empty() ? go_up() : go_down())) return WalkEnd::failed;
    }
    return WalkEnd::complete;
  }

 private:
  // Reads the current directory, visits its entries and makes it the deepest level.
  bool enter() {
    struct ::stat status{};
    if (::fstat(current_.get(), &status) != 0) return false;
    Level level{status.st_dev, status.st_ino, {}};
    std::vector<DirEntry> entries;
    DirReader reader(current_);
    for (DirReader::Entry entry; reader.next(entry);)
      entries.push_back({std::string(entry.name), entry.type, 0});
    if (reader.failed_number() != 0) return false;
    for (DirEntry& entry : entries) {
      steps_.visit(current_, entry.name.c_str(), entry.type);
      if (entry.type == FileType::directory) level.below.push_back(std::move(entry.name));
    }
    levels_.push_back(std::move(level));
    return true;
  }

  bool go_down() {
    const std::string& name = levels_.back().below.back();
    Fd next(::openat(current_.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!next.is_open()) {
      const bool gone = errno == ENOENT;
      levels_.back().below.pop_back();
      return gone;
    }
    current_ = std::move(next);
    return enter();
  }

  bool go_up() {
    levels_.pop_back();
    if (levels_.empty()) return true;
    Level& parent = levels_.back();
    Fd up(::openat(current_.get(), "..", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct ::stat status{};
    if (!up.is_open() || ::fstat(up.get(), &status) != 0) return false;
    if (status.st_dev != parent.device || status.st_ino != parent.inode) return false;
    current_ = std::move(up);
    if (steps_.leave) steps_.leave(current_, parent.below.back().c_str());
    parent.below.pop_back();
    return true;
  }

  Fd current_;
  const WalkSteps& steps_;
  std::vector<Level> levels_;
};

}  // namespace

WalkEnd walk_deep(Fd directory, const WalkSteps& steps) {
  return DeepWalk(std::move(directory), steps).run();
}

WalkEnd add_usage(Fd directory, Usage& usage, std::stop_token stop) {
  const auto visit = [&usage](const Fd& parent, const char* name, FileType type) {
    ++usage.files;
    struct ::stat status{};
    if (type == FileType::file && ::fstatat(parent.get(), name, &status, AT_SYMLINK_NOFOLLOW) == 0)
      usage.bytes += static_cast<std::uint64_t>(status.st_size);
  };
  return walk_deep(std::move(directory), {.visit = visit, .leave = {}, .stop = std::move(stop)});
}

WalkEnd remove_beneath(Fd directory) {
  const auto visit = [](const Fd& parent, const char* name, FileType type) {
    if (type != FileType::directory) ::unlinkat(parent.get(), name, 0);
  };
  const auto leave = [](const Fd& parent, const char* name) { ::unlinkat(parent.get(), name, AT_REMOVEDIR); };
  return walk_deep(std::move(directory), {.visit = visit, .leave = leave, .stop = {}});
}

}  // namespace relay::vfs
