#include "app/config_watch.h"

#include <csignal>
#include <cstring>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include <boost/asio/buffer.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

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

class Watcher : public std::enable_shared_from_this<Watcher> {
 public:
  Watcher(io::Executor executor, std::chrono::milliseconds settle, ConfigWatch::OnChange on_change)
      : stream_(executor), settled_(executor), settle_(settle), on_change_(std::move(on_change)) {}

  Result<void> open(const fs::path& file) {
    const int fd = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (fd < 0) return fail(from_errno(errno, "watch the configuration"));
    stream_.assign(fd);
    for (const fs::path& path : watched_paths(file)) {
      if (::inotify_add_watch(fd, path.parent_path().c_str(), kEvents) < 0) return fail(from_errno(errno, "watch " + path.parent_path().string()));
      names_.insert(path.filename().string());
    }
    return {};
  }

  // Keeps itself alive as long as it runs.
  static io::Task<void> read_events(std::shared_ptr<Watcher> self) {
    alignas(inotify_event) std::array<char, kBufferBytes> buffer{};
    for (;;) {
      const std::size_t bytes = co_await self->stream_.async_read_some(asio::buffer(buffer), asio::use_awaitable);
      if (self->mentions_file({buffer.data(), bytes})) self->tell_soon();
    }
  }

 private:
  bool mentions_file(std::string_view events) const {
    bool found = false;
    while (events.size() >= sizeof(inotify_event)) {
      inotify_event event;
      std::memcpy(&event, events.data(), sizeof event);
      const char* name = events.data() + sizeof event;
      found = found || (event.mask & IN_Q_OVERFLOW) != 0 || (event.len > 0 && names_.contains(std::string(name)));
      events.remove_prefix(std::min(events.size(), sizeof event + event.len));
    }
    return found;
  }

  // Each event starts the wait anew.
  void tell_soon() {
    settled_.expires_after(settle_);
    settled_.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
      if (!error) self->on_change_(WatchCause::file);
    });
  }

  asio::posix::stream_descriptor stream_;
  asio::steady_timer settled_;
  std::chrono::milliseconds settle_;
  ConfigWatch::OnChange on_change_;
  std::set<std::string, std::less<>> names_;
};

io::Task<void> wait_for_hangups(io::Executor executor, ConfigWatch::OnChange on_change) {
  asio::signal_set signals(executor, SIGHUP);
  for (;;) {
    co_await signals.async_wait(asio::use_awaitable);
    on_change(WatchCause::signal);
  }
}

}  // namespace

Result<void> ConfigWatch::start(io::Executor executor, WatchOptions options, OnChange on_change, io::CancelSource cancel) {
  io::spawn(executor, wait_for_hangups(executor, on_change), "SIGHUP", cancel);
  if (options.file.empty()) return {};
  auto watcher = std::make_shared<Watcher>(executor, options.settle, std::move(on_change));
  RELAY_CHECK(watcher->open(options.file));
  io::spawn(executor, Watcher::read_events(watcher), "configuration watch", cancel);
  return {};
}

}  // namespace relay::app
