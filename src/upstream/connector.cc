#include "upstream/connector.h"

#include <algorithm>

#include <fmt/format.h>

#include "io/spawn.h"
#include "launch/cage_proxy.h"
#include "launch/server_process.h"
#include "sandbox/cage_plan.h"
#include "secrets/secrets.h"

namespace relay::upstream {
namespace {

class StdioConnection final : public PeerConnection {
 public:
  StdioConnection(std::unique_ptr<launch::CageProxy> proxy, std::unique_ptr<launch::ServerProcess> process,
                  std::unique_ptr<peer::Peer> peer)
      : proxy_(std::move(proxy)), process_(std::move(process)), peer_(std::move(peer)) {}

  peer::Peer& peer() override { return *peer_; }
  [[nodiscard]] std::optional<int> pid() const override { return process_->child().pid(); }
  io::Task<std::string> exit_report() override { return process_->exit_report(); }
  io::Task<void> close() override {
    // A peer that cannot say goodbye is no reason to leave its process behind.
    [[maybe_unused]] const auto closed =
        co_await io::with_timeout(peer_->close(), limits::kUpstreamExitReport, "close");
    auto stopped = co_await process_->stop();
    proxy_.reset();
    co_return stopped;
  }

 private:
  std::unique_ptr<launch::CageProxy> proxy_;
  std::unique_ptr<launch::ServerProcess> process_;
  std::unique_ptr<peer::Peer> peer_;  // after the process: the peer uses its pipes
};

class HttpConnection final : public PeerConnection {
 public:
  explicit HttpConnection(std::unique_ptr<peer::Peer> peer) : peer_(std::move(peer)) {}

  peer::Peer& peer() override { return *peer_; }
  [[nodiscard]] std::optional<int> pid() const override { return std::nullopt; }
  io::Task<std::string> exit_report() override { co_return std::string(); }
  io::Task<void> close() override {
    [[maybe_unused]] const auto closed =
        co_await io::with_timeout(peer_->close(), limits::kTermGrace, "close");
    co_return Result<void>{};
  }

 private:
  std::unique_ptr<peer::Peer> peer_;
};

using Texts = std::map<std::string, std::string>;

struct ResolvedTexts {
  Texts texts;
  secrets::Redactor secrets;
};

// Files are read on the pool; what they hold is learned before it is used.
io::Task<Texts> resolve_on_pool(const ConnectorParts& parts, Texts texts) {
  auto work = [resolve = parts.resolve, texts = std::move(texts)]() -> Result<ResolvedTexts> {
    ResolvedTexts resolved;
    RELAY_TRY(resolved.texts, secrets::resolve_all(texts, resolve, resolved.secrets));
    return resolved;
  };
  const std::shared_ptr<secrets::Redactor> redactor = parts.redactor;
  RELAY_CO_TRY(ResolvedTexts resolved, co_await parts.pool.run(std::move(work)));
  redactor->learn_all(resolved.secrets);
  co_return std::move(resolved.texts);
}

peer::PeerOptions peer_options(const ConnectorParts& parts, const ServerSpec& spec, peer::EraChoice era) {
  peer::PeerOptions options;
  options.self = parts.self;
  options.era = era;
  options.start_timeout = spec.start_timeout;
  options.probe_timeout = std::min<std::chrono::milliseconds>(options.probe_timeout, spec.start_timeout);
  return options;
}

struct StdioTry {
  std::unique_ptr<PeerConnection> connection;
  bool died = false;  // the process ended by itself
  Error error;
};

/// A process to start, and its way out if it has a cage with one.
struct Launch {
  io::ChildSpec child;
  std::unique_ptr<launch::CageProxy> proxy;
};

std::string home_of(const launch::Environment& environment) {
  const auto home = environment.find("HOME");
  if (home == environment.end() || !sandbox::check({.program = "x", .home = home->second})) return {};
  return home->second;
}

bool is_beneath(std::string_view path, std::string_view directory) {
  return path == directory || (path.starts_with(directory) && path[directory.size()] == '/');
}

// A directory that is not in the cage cannot be started in; a server that did not ask for one starts in the
// cage's own /tmp.
std::string directory_inside(const ServerSpec& spec) {
  const auto holds_it = [&](const std::string& path) { return is_beneath(spec.cwd, path); };
  const bool is_inside = std::ranges::any_of(spec.cage->read, holds_it) ||
                         std::ranges::any_of(spec.cage->write, holds_it) || is_beneath(spec.cwd, "/usr");
  return is_inside ? spec.cwd : std::string();
}

sandbox::CagePlan plan_cage(const ServerSpec& spec, const launch::Environment& environment) {
  return {.program = spec.command,
          .args = spec.args,
          .directory = directory_inside(spec),
          .read = spec.cage->read,
          .write = spec.cage->write,
          .home = home_of(environment),
          .hosts = !spec.cage->hosts.empty()};
}

Result<Launch> make_launch(const ConnectorParts& parts, const ServerSpec& spec,
                           const launch::Environment& environment,
                           const std::shared_ptr<launch::ServerLog>& log) {
  Launch launch;
  launch.child.environment = environment;
  if (!spec.cage) {
    launch.child.program = spec.command;
    launch.child.args = spec.args;
    launch.child.directory = spec.cwd;
    return launch;
  }
  if (parts.cage_program.empty())
    return fail(invalid("its sandbox needs the program relay-cage, which was not found beside relay"));
  const sandbox::CagePlan plan = plan_cage(spec, environment);
  RELAY_CHECK(sandbox::check(plan));
  launch.child.program = parts.cage_program.string();
  launch.child.args = {json::write(to_json(plan))};
  if (plan.hosts) {
    RELAY_TRY(launch.proxy, launch::CageProxy::make(parts.executor, spec.cage->hosts, log));
    launch.child.fds[sandbox::kCageSocket] = launch.proxy->cage_socket();
  }
  return launch;
}

// The error of a failed start says how the process ended, if it did, and what it said last.
io::Task<StdioTry> try_stdio(const ConnectorParts& parts, Launch launch, peer::PeerOptions options,
                             peer::PeerObserver& observer, std::shared_ptr<launch::ServerLog> log) {
  RELAY_CO_TRY(std::unique_ptr<launch::ServerProcess> process,
               launch::ServerProcess::start(parts.executor, launch.child, log, parts.heads));
  if (launch.proxy) launch.proxy->cage_started();
  Result<std::unique_ptr<peer::Peer>> peer =
      co_await peer::connect_stdio(parts.executor, process->child(), std::move(options), observer);
  StdioTry outcome;
  if (peer) {
    outcome.connection =
        std::make_unique<StdioConnection>(std::move(launch.proxy), std::move(process), std::move(*peer));
    co_return outcome;
  }
  outcome.error = std::move(peer.error());
  RELAY_CO_TRY(const std::string words, co_await process->exit_report());
  outcome.died = !words.empty();
  if (outcome.died) outcome.error = unavailable(fmt::format("it {} before it was ready", words));
  if (const std::string line = log->last_line(); !line.empty())
    outcome.error.message += "; its last line on stderr: " + line;
  RELAY_CO_CHECK(co_await process->stop());
  co_return outcome;
}

io::Task<std::unique_ptr<PeerConnection>> connect_process(std::shared_ptr<const ConnectorParts> parts,
                                                          ServerSpec spec, peer::EraChoice era,
                                                          peer::PeerObserver& observer,
                                                          std::shared_ptr<launch::ServerLog> log) {
  RELAY_CO_TRY(const Texts own, co_await resolve_on_pool(*parts, spec.env));
  const launch::Environment environment = launch::make_child_environment(parts->environment, own);
  RELAY_CO_TRY(Launch launch, make_launch(*parts, spec, environment, log));
  RELAY_CO_TRY(StdioTry first,
               co_await try_stdio(*parts, std::move(launch), peer_options(*parts, spec, era), observer, log));
  if (first.connection) co_return std::move(first.connection);
  if (era != peer::EraChoice::probe || !first.died) co_return fail(std::move(first.error));
  // Some servers exit at the first question they do not know: asked in the old way they live.
  log->note("it did not survive being asked which revision it speaks; started again as a legacy server");
  log->begin_process();
  RELAY_CO_TRY(Launch again, make_launch(*parts, spec, environment, log));
  RELAY_CO_TRY(StdioTry second,
               co_await try_stdio(*parts, std::move(again),
                                  peer_options(*parts, spec, peer::EraChoice::legacy), observer, log));
  if (second.connection) co_return std::move(second.connection);
  co_return fail(std::move(second.error));
}

io::Task<std::unique_ptr<PeerConnection>> connect_endpoint(std::shared_ptr<const ConnectorParts> parts,
                                                           ServerSpec spec, peer::EraChoice era,
                                                           peer::PeerObserver& observer) {
  peer::HttpTarget target;
  RELAY_CO_TRY(target.headers, co_await resolve_on_pool(*parts, spec.headers));
  target.endpoint = spec.endpoint;
  target.old_sse = spec.transport == ServerTransport::sse;
  RELAY_CO_TRY(std::unique_ptr<peer::Peer> peer,
               co_await peer::connect_http(parts->executor, parts->http, std::move(target),
                                           peer_options(*parts, spec, era), observer));
  co_return std::make_unique<HttpConnection>(std::move(peer));
}

}  // namespace

Connect make_connector(ConnectorParts parts) {
  auto shared = std::make_shared<const ConnectorParts>(std::move(parts));
  return [shared](const ServerSpec& spec, peer::EraChoice era, peer::PeerObserver& observer,
                  std::shared_ptr<launch::ServerLog> log) {
    if (spec.transport == ServerTransport::stdio)
      return connect_process(shared, spec, era, observer, std::move(log));
    return connect_endpoint(shared, spec, era, observer);
  };
}

}  // namespace relay::upstream
