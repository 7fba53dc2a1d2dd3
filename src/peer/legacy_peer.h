// A server of a revision up to 2025-11-25: `initialize` first, questions as requests of the server,
// subscriptions one by one.
#pragma once

#include <memory>

#include "peer/peer_dialogue.h"

namespace relay::peer {

/// Says initialize and gives the peer. We declare roots, sampling and elicitation whoever stands behind us:
/// what a particular client cannot answer is refused when it is asked.
io::Task<std::unique_ptr<Peer>> open_legacy_peer(std::shared_ptr<Dialogue> dialogue, PeerOptions options);

}  // namespace relay::peer
