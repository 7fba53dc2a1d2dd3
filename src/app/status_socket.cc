#include "app/status_socket.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>

#include <fmt/format.h>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/write.hpp>

#include "base/disk.h"
#include "base/fd.h"
#include "base/limits.h"
#include "world/world.h"

namespace relay::app {
namespace {

namespace asio = io::asio;
namespace fs = std::filesystem;
using Local = asio::local::stream_protocol;

constexpr std::string_view kEnding = ".sock";
constexpr auto kTimeout = std::chrono::seconds(2);  // a loop that turns answers at once
constexpr std::size_t kReportBytes = 4 * limits::kMiB;

fs::path status_directory(const fs::path& state) {
  return state / "status";
}

Fd open_directory(const fs::path& directory) {
  return Fd(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
}

// The name of a socket has 107 bytes at most, a path may have more: this one is short wherever the directory
// is.
std::string short_path(const Fd& directory, const std::string& name) {
  return fmt::format("/proc/self/fd/{}/{}", directory.get(), name);
}

std::optional<std::int64_t> find_pid(const std::string& name) {
  if (!name.ends_with(kEnding)) return std::nullopt;
  const char* end = name.data() + name.size() - kEnding.size();
  std::int64_t pid = 0;
  const auto [read, error] = std::from_chars(name.data(), end, pid);
  return error == std::errc() && read == end ? std::optional(pid) : std::nullopt;
}

// Not open: errno says why.
Fd connect_to(const Fd& directory, const std::string& name) {
  Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  const std::string path = short_path(directory, name);
  std::memcpy(address.sun_path, path.c_str(), std::min(path.size() + 1, sizeof address.sun_path));
  const timeval patience{.tv_sec = kTimeout.count(), .tv_usec = 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);  // also of connect
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return {};
  return socket;
}

std::optional<json::object> read_report(const Fd& socket) {
  std::string text;
  char buffer[16 * limits::kKiB];
  for (;;) {
    const ssize_t bytes = ::read(socket.get(), buffer, sizeof buffer);
    if (bytes < 0 || text.size() > kReportBytes) return std::nullopt;
    if (bytes == 0) break;
    text.append(buffer, static_cast<std::size_t>(bytes));
  }
  auto object = json::parse_object(text, {.bytes = kReportBytes});
  return object ? std::optional(std::move(*object)) : std::nullopt;
}

// `visit` gets the directory, the name of a socket and the pid in it.
template <class Visit>
void for_each_socket(const fs::path& state, Visit visit) {
  const Fd directory = open_directory(status_directory(state));
  if (!directory.is_open()) return;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(status_directory(state), ignored)) {
    const std::string name = entry.path().filename().string();
    if (const auto pid = find_pid(name)) visit(directory, name, *pid);
  }
}

}  // namespace

// Each pending operation holds it.
class StatusSocket::Listener : public std::enable_shared_from_this<Listener> {
 public:
  Listener(const io::Loop& loop, fs::path path, Report report)
      : acceptor_(loop), path_(std::move(path)), report_(std::move(report)) {}

  Result<void> open() {
    const Fd directory = open_directory(path_.parent_path());
    const std::string name = path_.filename().string();
    std::error_code ignored;
    fs::remove(path_, ignored);  // of a process that had this pid before
    boost::system::error_code error;
    acceptor_.open(Local(), error);
    if (!error) acceptor_.bind(Local::endpoint(short_path(directory, name)), error);
    if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (error)
      return fail(unavailable(fmt::format("cannot listen on {}: {}", path_.string(), error.message())));
    accept();
    return {};
  }

  void close() {
    boost::system::error_code ignored;
    acceptor_.close(ignored);
    std::error_code gone;
    fs::remove(path_, gone);
  }

 private:
  void accept() {
    acceptor_.async_accept(
        [self = shared_from_this()](const boost::system::error_code& error, Local::socket socket) {
          if (error) return;
          self->answer(std::make_shared<Local::socket>(std::move(socket)));
          self->accept();
        });
  }

  void answer(const std::shared_ptr<Local::socket>& socket) {
    auto text = std::make_shared<std::string>(json::write(report_()) + "\n");
    asio::async_write(*socket, asio::buffer(*text),
                      [socket, text](const boost::system::error_code&, std::size_t) {});
  }

  Local::acceptor acceptor_;
  fs::path path_;
  Report report_;
};

StatusSocket::StatusSocket(std::shared_ptr<Listener> listener) : listener_(std::move(listener)) {}

StatusSocket::~StatusSocket() {
  listener_->close();
}

Result<std::unique_ptr<StatusSocket>> StatusSocket::open(const io::Loop& loop, const fs::path& state,
                                                         Report report) {
  RELAY_CHECK(make_directory(status_directory(state)));
  std::error_code ignored;
  for (const fs::path& dead : find_dead_sockets(state)) fs::remove(dead, ignored);
  auto listener = std::make_shared<Listener>(
      loop, status_directory(state) / fmt::format("{}{}", ::getpid(), kEnding), std::move(report));
  RELAY_CHECK(listener->open());
  return std::unique_ptr<StatusSocket>(new StatusSocket(std::move(listener)));
}

std::unique_ptr<StatusSocket> open_status(const io::Loop& loop, const config::Config& config, Log& log,
                                          StatusSocket::Report report) {
  auto opened = StatusSocket::open(loop, config.state, std::move(report));
  if (opened) return *std::move(opened);
  log.warn("`relay status` will not see this process", {{"reason", opened.error().message}});
  return nullptr;
}

json::object describe_running(const world::World& world, std::string_view command) {
  json::object report = world.info().collect();
  report["command"] = command;
  report["pid"] = ::getpid();
  report["configuration"] = world.config().file.string();
  report["root"] = world.config().root.string();
  return report;
}

std::vector<RunningRelay> find_running(const fs::path& state) {
  std::vector<RunningRelay> running;
  for_each_socket(state, [&](const Fd& directory, const std::string& name, std::int64_t pid) {
    const Fd socket = connect_to(directory, name);
    if (socket.is_open())
      running.push_back({pid, read_report(socket)});
    else if (errno == EAGAIN)  // nobody accepts
      running.push_back({pid, std::nullopt});
  });
  const auto rank = [](const RunningRelay& one) {
    return std::pair(!one.report || !one.report->contains("url"), one.pid);
  };
  std::ranges::sort(running, {}, rank);
  return running;
}

std::vector<fs::path> find_dead_sockets(const fs::path& state) {
  std::vector<fs::path> dead;
  for_each_socket(state, [&](const Fd& directory, const std::string& name, std::int64_t) {
    if (!connect_to(directory, name).is_open() && errno == ECONNREFUSED)
      dead.push_back(status_directory(state) / name);
  });
  return dead;
}

}  // namespace relay::app
