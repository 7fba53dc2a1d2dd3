#include "upstream/connector.h"

#include <algorithm>

#include <fmt/format.h>

#include "io/spawn.h"
#include "launch/process_launch.h"
#include "launch/server_process.h"
#include "secrets/secrets.h"
#include "upstream/redacted_peer.h"
#include "upstream/spec_references.h"

namespace relay::upstream {
namespace {

/// What a connection owns of its peer: nothing that the server says reaches us around the redactor.
struct RedactedPeerParts {
  std::unique_ptr<peer::PeerObserver> observer;
  std::unique_ptr<peer::Peer> peer;
};

class StdioConnection final : public PeerConnection {
 public:
  StdioConnection(std::unique_ptr<launch::ServerProcess> process, RedactedPeerParts parts)
      : process_(std::move(process)), observer_(std::move(parts.observer)), peer_(std::move(parts.peer)) {}

  peer::Peer& peer() override { return *peer_; }
  [[nodiscard]] std::optional<int> pid() const override { return process_->child().pid(); }
  [[nodiscard]] std::optional<sandbox::CageStanding> cage() const override { return process_->standing(); }
  io::Task<std::string> exit_report() override { return process_->exit_report(); }
  io::Task<void> close() override {
    // A peer that cannot say goodbye is no reason to leave its process behind.
    [[maybe_unused]] const auto closed =
        co_await io::with_timeout(peer_->close(), limits::kUpstreamExitReport, "close");
    co_return co_await process_->stop();
  }

 private:
  std::unique_ptr<launch::ServerProcess> process_;
  std::unique_ptr<peer::PeerObserver> observer_;
  std::unique_ptr<peer::Peer> peer_;  // after the process and the observer: it uses both
};

class HttpConnection final : public PeerConnection {
 public:
  explicit HttpConnection(RedactedPeerParts parts)
      : observer_(std::move(parts.observer)), peer_(std::move(parts.peer)) {}

  peer::Peer& peer() override { return *peer_; }
  [[nodiscard]] std::optional<int> pid() const override { return std::nullopt; }
  io::Task<std::string> exit_report() override { co_return std::string(); }
  io::Task<void> close() override {
    [[maybe_unused]] const auto closed =
        co_await io::with_timeout(peer_->close(), limits::kTermGrace, "close");
    co_return Result<void>{};
  }

 private:
  std::unique_ptr<peer::PeerObserver> observer_;
  std::unique_ptr<peer::Peer> peer_;  // after the observer, which it tells
};

// Files are read on the pool; what they hold is learned there, before anybody can use it. A cage covers what
// is there at this moment: links and mounts may have come since the configuration was read.
io::Task<ServerSpec> resolve_on_pool(const ConnectorParts& parts, ServerSpec spec) {
  auto work = [resolve = parts.resolve, redactor = parts.redactor, hide = parts.hide_own_files,
               spec = std::move(spec)]() mutable -> Result<ServerSpec> {
    if (spec.cage && hide) hide(*spec.cage);
    RELAY_TRY(const SpecTexts texts, secrets::resolve_all(texts_of(spec), resolve, *redactor));
    return with_texts(std::move(spec), texts);
  };
  co_return co_await parts.pool.run(std::move(work));
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

Result<launch::Launch> make_launch(const ConnectorParts& parts, const ServerSpec& spec,
                                   const launch::Environment& environment,
                                   const std::shared_ptr<launch::ServerLog>& log) {
  const launch::LaunchParts launch{.executor = parts.executor,
                                   .cage_program = parts.cage_program,
                                   .find_group_site = parts.find_group_site};
  const launch::LaunchCommand command{
      .program = spec.command, .args = spec.args, .directory = spec.cwd, .environment = environment};
  return spec.cage ? launch::make_caged_launch(launch, spec.name, command, *spec.cage, log)
                   : launch::make_supervised_launch(launch, command);
}

// The error of a failed start says how the process ended, if it did, and what it said last.
io::Task<StdioTry> try_stdio(const ConnectorParts& parts, launch::Launch launch, peer::PeerOptions options,
                             peer::PeerObserver& observer, std::shared_ptr<launch::ServerLog> log) {
  RELAY_CO_TRY(std::unique_ptr<launch::ServerProcess> process,
               launch::ServerProcess::start(parts.executor, std::move(launch), log, parts.heads));
  RedactedPeerParts made{.observer = std::make_unique<RedactedObserver>(observer, parts.redactor),
                         .peer = {}};
  Result<std::unique_ptr<peer::Peer>> peer =
      co_await peer::connect_stdio(parts.executor, process->child(), std::move(options), *made.observer);
  StdioTry outcome;
  if (peer) {
    made.peer = std::make_unique<RedactedPeer>(std::move(*peer), parts.redactor);
    outcome.connection = std::make_unique<StdioConnection>(std::move(process), std::move(made));
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
  RELAY_CO_TRY(spec, co_await resolve_on_pool(*parts, std::move(spec)));
  const launch::Environment environment = launch::make_child_environment(
      parts->environment, spec.env,
      spec.cage ? launch::NetworkSettings::withheld : launch::NetworkSettings::passed);
  RELAY_CO_TRY(launch::Launch launch, make_launch(*parts, spec, environment, log));
  RELAY_CO_TRY(StdioTry first,
               co_await try_stdio(*parts, std::move(launch), peer_options(*parts, spec, era), observer, log));
  if (first.connection) co_return std::move(first.connection);
  if (era != peer::EraChoice::probe || !first.died) co_return fail(std::move(first.error));
  // Some servers exit at the first question they do not know: asked in the old way they live.
  log->note("it did not survive being asked which revision it speaks; started again as a legacy server");
  log->begin_process();
  RELAY_CO_TRY(launch::Launch again, make_launch(*parts, spec, environment, log));
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
  RELAY_CO_TRY(spec, co_await resolve_on_pool(*parts, std::move(spec)));
  target.headers = spec.headers;
  target.endpoint = spec.endpoint;
  target.old_sse = spec.transport == ServerTransport::sse;
  RedactedPeerParts made{.observer = std::make_unique<RedactedObserver>(observer, parts->redactor),
                         .peer = {}};
  RELAY_CO_TRY(std::unique_ptr<peer::Peer> peer,
               co_await peer::connect_http(parts->executor, parts->http, std::move(target),
                                           peer_options(*parts, spec, era), *made.observer));
  made.peer = std::make_unique<RedactedPeer>(std::move(peer), parts->redactor);
  co_return std::make_unique<HttpConnection>(std::move(made));
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
