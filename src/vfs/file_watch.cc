#include "vfs/file_watch.h"

#include <fcntl.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <set>

#include <fmt/format.h>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/limits.h"
#include "io/spawn.h"
#include "vfs/tree_path.h"

namespace relay::vfs {
namespace {

constexpr auto kPause = std::chrono::milliseconds(50);  // between two reports

constexpr std::uint32_t kEvents = IN_CLOSE_WRITE | IN_MODIFY | IN_ATTRIB | IN_CREATE | IN_DELETE |
                                  IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;
// For a directory as such, a change inside one of its files is no news.
constexpr std::uint32_t kNameEvents =
    IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF;

}  // namespace

struct FileWatcher::State {
  State(io::Loop executor, Fd fd, Changed on_change)
      : inotify(executor, fd.release()), changed(std::move(on_change)) {}

  io::asio::posix::stream_descriptor inotify;
  Changed changed;
  FileWatcher* owner = nullptr;

  void collect(const ::inotify_event& event, std::string_view name,
               std::set<std::string>& changed_keys) const {
    if ((event.mask & IN_Q_OVERFLOW) != 0) {  // nobody knows what was lost
      for (const auto& [key, watched] : owner->watched_) changed_keys.insert(key);
      return;
    }
    const auto keys = owner->keys_.find(event.wd);
    if (keys == owner->keys_.end()) return;
    for (const std::string& key : keys->second) {
      const std::string& wanted = owner->watched_.find(key)->second.name;
      const bool about_it = wanted.empty() ? (event.mask & kNameEvents) != 0 : wanted == name || name.empty();
      if (about_it) changed_keys.insert(key);
    }
  }

  void collect(std::string_view batch, std::set<std::string>& changed_keys) const {
    while (batch.size() >= sizeof(::inotify_event)) {
      ::inotify_event event{};
      std::memcpy(&event, batch.data(), sizeof event);
      const std::string_view padded = batch.substr(sizeof event, event.len);
      collect(event, padded.substr(0, padded.find('\0')), changed_keys);
      batch.remove_prefix(sizeof event + event.len);
    }
  }

  /// Everything that waits in the queue, as one report.
  void report() {
    alignas(::inotify_event) std::array<char, 16 * 1024> buffer;
    std::set<std::string> changed_keys;
    for (ssize_t got; (got = ::read(inotify.native_handle(), buffer.data(), buffer.size())) > 0;) {
      collect({buffer.data(), static_cast<std::size_t>(got)}, changed_keys);
    }
    for (const std::string& key : changed_keys) changed(key);
  }
};

FileResult<WatchTarget> open_watch_target(const Tree& tree, std::string_view path) {
  RELAY_FILE_TRY(const Tree::Place place, tree.place_to_read(path));
  RELAY_FILE_TRY(const FileStat found, tree.stat(path));
  if (place.mount == nullptr) return fail(file_error(EINVAL, place.tree_path.text(), "it cannot be watched"));
  RELAY_FILE_TRY(const std::string real, place.mount->real_path(place.path, tree.judge_of(place)));
  WatchTarget target;
  SplitPath split = split_last(real);
  const bool is_dir = found.type == FileType::directory;
  if (!is_dir) target.name = std::move(split.name);
  RELAY_FILE_TRY(target.directory, place.mount->dir().open_dir(is_dir ? real : split.directory));
  return target;
}

FileWatcher::FileWatcher(io::Loop executor, Fd inotify, Changed changed)
    : state_(std::make_shared<State>(executor, std::move(inotify), std::move(changed))) {
  state_->owner = this;
}

FileWatcher::~FileWatcher() {
  state_->owner = nullptr;
  boost::system::error_code ignored;
  state_->inotify.close(ignored);
}

Result<std::unique_ptr<FileWatcher>> FileWatcher::open(io::Loop executor, Changed changed) {
  Fd inotify(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (!inotify.is_open()) return relay::fail(from_errno(errno, "watching files"));
  std::unique_ptr<FileWatcher> watcher(new FileWatcher(executor, std::move(inotify), std::move(changed)));
  io::spawn(executor, run(watcher->state_), "file watcher");
  return watcher;
}

io::Task<void> FileWatcher::run(std::shared_ptr<State> state) {
  io::asio::steady_timer pause(state->inotify.get_executor());
  while (state->owner != nullptr) {
    boost::system::error_code error;
    co_await state->inotify.async_wait(io::asio::posix::stream_descriptor::wait_read,
                                       io::asio::redirect_error(io::asio::use_awaitable, error));
    if (error || state->owner == nullptr) break;  // closed, when the watcher goes
    state->report();
    pause.expires_after(kPause);
    co_await pause.async_wait(io::asio::redirect_error(io::asio::use_awaitable, error));
  }
  co_return Result<void>{};
}

Result<void> FileWatcher::watch(std::string key, const WatchTarget& target) {
  if (watched_.size() >= limits::kWatchedFiles && !watched_.contains(key)) {
    return relay::fail(busy(fmt::format("more than {} files are watched already", limits::kWatchedFiles)));
  }
  unwatch(key);  // before adding: the same directory has the same descriptor
  const std::string path = fmt::format("/proc/self/fd/{}", target.directory.get());
  const int descriptor = ::inotify_add_watch(state_->inotify.native_handle(), path.c_str(), kEvents);
  if (descriptor < 0) return relay::fail(from_errno(errno, "watching a file"));
  keys_[descriptor].insert(key);
  watched_.insert_or_assign(std::move(key), Watched{descriptor, target.name});
  return {};
}

void FileWatcher::unwatch(std::string_view key) {
  const auto found = watched_.find(key);
  if (found == watched_.end()) return;
  forget(found->first, found->second.descriptor);
  watched_.erase(found);
}

void FileWatcher::forget(const std::string& key, int descriptor) {
  const auto keys = keys_.find(descriptor);
  keys->second.erase(key);
  if (!keys->second.empty()) return;
  keys_.erase(keys);
  ::inotify_rm_watch(state_->inotify.native_handle(), descriptor);
}

}  // namespace relay::vfs
