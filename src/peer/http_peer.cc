#include "peer/http_wire.h"
#include "peer/legacy_peer.h"
#include "peer/modern_peer.h"
#include "peer/peer.h"
#include "peer/peer_handshake.h"
#include "peer/sse_wire.h"

namespace relay::peer {
namespace {

// What a server answers that does not know this way of speaking. Refused credentials and broken servers say
// nothing about the era.
bool is_era_evidence(const Error& error) {
  return error.kind == ErrorKind::invalid || error.kind == ErrorKind::not_found;
}

struct Connecting {
  io::Loop executor;
  std::shared_ptr<HttpChannel> channel;
  PeerOptions options;
  PeerObserver& observer;
};

io::Task<std::unique_ptr<Peer>> connect_old_sse(Connecting& how) {
  RELAY_CO_TRY(auto wire,
               co_await io::with_timeout(open_sse_wire(how.executor, how.channel), how.options.start_timeout,
                                         "the server's event stream did not begin"));
  Handshake handshake(Dialogue::make(how.executor, std::move(wire), how.observer));
  RELAY_CO_TRY(auto peer, co_await open_legacy_peer(handshake.dialogue(), how.options));
  handshake.succeeded();
  co_return peer;
}

io::Task<std::unique_ptr<Peer>> connect_legacy(Connecting& how) {
  const auto wire = std::make_shared<HttpWire>(how.executor, how.channel);
  wire->speak(protocol::Era::legacy);
  Handshake handshake(Dialogue::make(how.executor, wire, how.observer));
  RELAY_CO_TRY(auto peer, co_await open_legacy_peer(handshake.dialogue(), how.options));
  handshake.succeeded();
  co_return peer;
}

// Nothing when the server is of the legacy era.
io::Task<std::unique_ptr<Peer>> connect_modern(Connecting& how) {
  const auto wire = std::make_shared<HttpWire>(how.executor, how.channel);
  wire->speak(protocol::Era::modern);
  Handshake handshake(Dialogue::make(how.executor, wire, how.observer));
  Probe probe{.verdict = ProbeVerdict::modern, .info = assumed_modern_info()};
  if (how.options.era == EraChoice::probe) {
    auto answered = co_await probe_era(handshake.dialogue(), how.options);
    if (!answered && !is_era_evidence(answered.error())) co_return fail(std::move(answered.error()));
    probe = answered ? *std::move(answered) : Probe{};
  }
  if (probe.verdict == ProbeVerdict::legacy) co_return std::unique_ptr<Peer>();
  auto peer = make_modern_peer(handshake.dialogue(), how.options, std::move(probe.info));
  handshake.succeeded();
  co_return peer;
}

}  // namespace

io::Task<std::unique_ptr<Peer>> connect_http(io::Loop executor, net::HttpClient& http, HttpTarget target,
                                             PeerOptions options, PeerObserver& observer) {
  const bool old_sse = target.old_sse;
  Connecting how{std::move(executor), std::make_shared<HttpChannel>(http, std::move(target)),
                 std::move(options), observer};
  if (old_sse) co_return co_await connect_old_sse(how);
  if (how.options.era != EraChoice::legacy) {
    RELAY_CO_TRY(auto modern, co_await connect_modern(how));
    if (modern) co_return modern;
  }
  auto legacy = co_await connect_legacy(how);
  if (legacy || !is_era_evidence(legacy.error())) co_return legacy;
  auto oldest = co_await connect_old_sse(how);
  if (oldest) co_return oldest;
  co_return fail(std::move(legacy.error()));
}

}  // namespace relay::peer
