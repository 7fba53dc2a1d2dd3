#include <fmt/format.h>

#include "peer/legacy_peer.h"
#include "peer/modern_peer.h"
#include "peer/peer.h"
#include "peer/peer_handshake.h"
#include "peer/stdio_wire.h"

namespace relay::peer {
namespace {

// A server that ends because it was asked something before initialize can only be told apart by what it did.
Error explain_probe(Error error) {
  if (error.kind == ErrorKind::unavailable)
    error.message +=
        " when it was asked which era it speaks (server/discover): start it again with era \"legacy\"";
  return error;
}

}  // namespace

io::Task<std::unique_ptr<Peer>> connect_stdio(io::Loop executor, io::Child& child, PeerOptions options,
                                              PeerObserver& observer) {
  Handshake handshake(Dialogue::make(executor, make_stdio_wire(executor, child), observer));
  Probe probe{.verdict = ProbeVerdict::modern, .info = assumed_modern_info()};
  if (options.era == EraChoice::legacy) probe.verdict = ProbeVerdict::legacy;
  if (options.era == EraChoice::probe) {
    auto answered = co_await probe_era(handshake.dialogue(), options);
    if (!answered) co_return fail(explain_probe(std::move(answered.error())));
    probe = *std::move(answered);
  }
  std::unique_ptr<Peer> peer;
  if (probe.verdict == ProbeVerdict::modern) {
    peer = make_modern_peer(handshake.dialogue(), std::move(options), std::move(probe.info));
  } else {
    RELAY_CO_TRY(peer, co_await open_legacy_peer(handshake.dialogue(), std::move(options)));
  }
  handshake.succeeded();
  co_return peer;
}

}  // namespace relay::peer
