#include "app/config_watch.h"

#include <sys/inotify.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

#include <boost/asio/buffer.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

namespace relay::app {
namespace {

namespace asio = io::asio;
namespace fs = std::filesystem;

constexpr std::uint32_t kEvents = IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_DELETE | IN_MOVED_FROM;
constexpr std::size_t kBufferBytes = 16 * 1024;

// The file, and what it links to: either may be replaced.
std::vector<fs::path> watched_paths(const fs::path& file) {
  std::vector<fs::path> paths{file};
  std::error_code error;
  if (fs::path real = fs::canonical(file, error); !error && real != file) paths.push_back(std::move(real));
  return paths;
}

}  // namespace

// Each pending operation holds it; stop() ends them all.
class ConfigWatch::Watcher : public std::enable_shared_from_this<Watcher> {
 public:
  Watcher(const io::Loop& executor, std::chrono::milliseconds settle, OnChange on_change)
      : stream_(executor),
        signals_(executor, SIGHUP),
        settled_(executor),
        settle_(settle),
        on_change_(std::move(on_change)) {}

  Result<void> open(const fs::path& file) {
    const int fd = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (fd < 0) return fail(from_errno(errno, "watch the configuration"));
    stream_.assign(fd);
    for (const fs::path& path : watched_paths(file)) {
      if (::inotify_add_watch(fd, path.parent_path().c_str(), kEvents) < 0)
        return fail(from_errno(errno, "watch " + path.parent_path().string()));
      names_.insert(path.filename().string());
    }
    read_events();
    return {};
  }

  void wait_for_hangup() {
    signals_.async_wait([self = shared_from_this()](const boost::system::error_code& error, int) {
      if (error || self->stopped_) return;
      self->wait_for_hangup();
      self->on_change_(WatchCause::signal);
    });
  }

  void stop() {
    stopped_ = true;
    signals_.cancel();
    settled_.cancel();
    stream_.close();
  }

 private:
  void read_events() {
    stream_.async_read_some(
        asio::buffer(buffer_),
        [self = shared_from_this()](const boost::system::error_code& error, std::size_t bytes) {
          if (error || self->stopped_) return;
          if (self->mentions_file({self->buffer_.data(), bytes})) self->tell_soon();
          self->read_events();
        });
  }

  [[nodiscard]] bool mentions_file(std::string_view events) const {
    bool found = false;
    while (events.size() >= sizeof(inotify_event)) {
      inotify_event event;
      std::memcpy(&event, events.data(), sizeof event);
      const char* name = events.data() + sizeof event;
      found = found || (event.mask & IN_Q_OVERFLOW) != 0 ||
              (event.len > 0 && names_.contains(std::string_view(name)));
      events.remove_prefix(std::min(events.size(), sizeof event + event.len));
    }
    return found;
  }

  // Each event starts the wait anew.
  void tell_soon() {
    settled_.expires_after(settle_);
    settled_.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
      if (!error && !self->stopped_) self->on_change_(WatchCause::file);
    });
  }

  asio::posix::stream_descriptor stream_;
  asio::signal_set signals_;
  asio::steady_timer settled_;
  std::chrono::milliseconds settle_;
  OnChange on_change_;
  std::set<std::string, std::less<>> names_;
  alignas(inotify_event) std::array<char, kBufferBytes> buffer_{};
  bool stopped_ = false;
};

ConfigWatch::ConfigWatch(io::Loop executor, const fs::path& file, OnChange on_change,
                         std::chrono::milliseconds settle)
    : watcher_(std::make_shared<Watcher>(executor, settle, std::move(on_change))) {
  watcher_->wait_for_hangup();
  if (!file.empty()) watching_ = watcher_->open(file);
}

ConfigWatch::~ConfigWatch() {
  watcher_->stop();
}

}  // namespace relay::app
