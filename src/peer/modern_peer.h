// A server of the modern era: no session, everything in each request, questions as results, changes on a
// listen stream.
#pragma once

#include <memory>
#include <string>

#include "peer/peer_dialogue.h"

namespace relay::peer {

/// What a server said to server/discover.
enum class ProbeVerdict : std::uint8_t { modern, legacy };
struct Probe {
  ProbeVerdict verdict = ProbeVerdict::legacy;
  PeerInfo info;    // of a modern server
  std::string why;  // of a legacy one: what it said instead
};

/// Asks server/discover. A server that refuses or does not answer in time is legacy; an Error means that the
/// connection is gone or that nothing can be said about the era.
io::Task<Probe> probe_era(std::shared_ptr<Dialogue> dialogue, PeerOptions options);

/// For servers without server/discover: whether they have tools, resources or prompts shows when they are
/// asked.
PeerInfo assumed_modern_info();

std::unique_ptr<Peer> make_modern_peer(std::shared_ptr<Dialogue> dialogue, PeerOptions options,
                                       PeerInfo info);

}  // namespace relay::peer
