#include "launch/server_process.h"

#include <signal.h>

#include <array>
#include <optional>

#include "io/spawn.h"
#include "launch/limit_watch.h"

namespace relay::launch {

struct ServerProcess::Body {
  Body(const io::Loop& loop, io::Child process, Launch launch, std::shared_ptr<ServerLog> server_log,
       ProcessCount::Head counted)
      : executor(loop),
        proxy(std::move(launch.proxy)),
        standing(std::move(launch.standing)),
        on_stderr(std::move(launch.on_stderr)),
        watch(launch.limits, std::move(launch.group), server_log),
        child(std::move(process)),
        log(std::move(server_log)),
        drained(loop),
        head(std::move(counted)) {}

  io::Loop executor;
  std::unique_ptr<CageProxy> proxy;
  std::optional<sandbox::CageStanding> standing;
  std::function<void(std::string_view)> on_stderr;
  LimitWatch watch;
  io::Child child;
  std::shared_ptr<ServerLog> log;
  io::Event drained;
  std::optional<ProcessCount::Head>
      head;  // until it is reaped; whoever still holds the rest of it does not matter

  /// Once it is reaped.
  void finish() {
    // Grandchildren that survived their parent would live on; the group is theirs too.
    child.signal_group(SIGKILL);
    boost::system::error_code ignored;
    child.err().close(ignored);  // NOLINT: an error here means it was closed already
    proxy.reset();
    head.reset();
  }
};

namespace {

using Body = ServerProcess::Body;

// So much per turn; then a pause, so that a server that shouts without end neither blocks nor keeps the loop
// busy.
constexpr std::size_t kTurnBytes = 1 * limits::kMiB;
constexpr auto kPause = std::chrono::milliseconds(50);

io::Task<void> drain_stderr(std::shared_ptr<Body> body) {
  std::array<char, 16 * limits::kKiB> chunk;
  std::size_t turn = 0;
  boost::system::error_code error;
  while (!error) {
    const std::size_t got = co_await body->child.err().async_read_some(
        io::asio::buffer(chunk), io::asio::redirect_error(io::asio::use_awaitable, error));
    body->log->stderr_bytes({chunk.data(), got});
    if (body->on_stderr) body->on_stderr({chunk.data(), got});
    turn += got;
    if (got < chunk.size() / 4) turn = 0;
    if (turn < kTurnBytes) continue;
    turn = 0;
    RELAY_CO_CHECK(co_await io::sleep_for(kPause));
  }
  body->log->stderr_end();
  body->drained.set();
  co_return Result<void>{};
}

io::Task<void> reap(std::shared_ptr<Body> body) {
  [[maybe_unused]] const auto status = co_await body->child.stop(std::chrono::seconds(0));
  body->finish();
  co_return Result<void>{};
}

// Owns the body until the group is gone: the kernel takes a moment after the last process.
io::Task<void> watch_limits(std::shared_ptr<Body> body) {
  while (body->child.running()) {
    if (body->watch.look()) body->child.end_group();
    [[maybe_unused]] const auto ended = co_await io::with_timeout(body->child.wait(), limits::kCageWatch, "");
  }
  const auto deadline = std::chrono::steady_clock::now() + limits::kCageRemoval;
  body->watch.look();
  while (!body->watch.remove_group() && std::chrono::steady_clock::now() < deadline)
    RELAY_CO_CHECK(co_await io::sleep_for(std::chrono::milliseconds(2)));
  co_return Result<void>{};
}

}  // namespace

Result<std::unique_ptr<ServerProcess>> ServerProcess::start(const io::Loop& executor, Launch launch,
                                                            std::shared_ptr<ServerLog> log,
                                                            const std::shared_ptr<ProcessCount>& heads) {
  RELAY_TRY(io::Child child, io::Child::spawn(executor, launch.child));
  if (launch.proxy) launch.proxy->cage_started();
  auto body =
      std::make_shared<Body>(executor, std::move(child), std::move(launch), std::move(log), heads->enter());
  io::spawn(executor, drain_stderr(body), "stderr of an upstream server");
  if (body->watch.has_group()) io::spawn(executor, watch_limits(body), "limits of a cage");
  return std::unique_ptr<ServerProcess>(new ServerProcess(std::move(body)));
}

ServerProcess::~ServerProcess() {
  if (body_->child.running())
    io::spawn(body_->executor, reap(body_), "end of an upstream server");
  else
    body_->finish();
}

io::Child& ServerProcess::child() {
  return body_->child;
}

const std::optional<sandbox::CageStanding>& ServerProcess::standing() const {
  return body_->standing;
}

io::Task<std::string> ServerProcess::exit_report() {
  const std::shared_ptr<Body> body = body_;
  const auto deadline = std::chrono::steady_clock::now() + limits::kUpstreamExitReport;
  auto status = co_await io::with_timeout(body->child.wait(), limits::kUpstreamExitReport, "");
  if (!status) co_return std::string();
  RELAY_CO_CHECK(co_await body->drained.wait_until(deadline));
  body->watch.look();
  co_return body->watch.explain(*status);
}

io::Task<void> ServerProcess::stop() {
  const std::shared_ptr<Body> body = body_;
  RELAY_CO_CHECK(co_await body->child.stop());
  body->finish();
  co_return Result<void>{};
}

}  // namespace relay::launch
