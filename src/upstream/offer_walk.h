// Walking a server's lists: all pages, each item kept as the bytes it came in, with guards against servers
// that never end.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "io/task.h"
#include "peer/peer.h"
#include "upstream/offer.h"
#include "upstream/server_spec.h"

namespace relay::upstream {

/// How long a list may be kept, by what its server said.
struct ListCaching {
  bool announces_changes = false;                // listChanged: kept until the server says so
  std::optional<std::chrono::milliseconds> ttl;  // modern servers; the shortest of all pages
  bool is_whole = true;  // false: the server answered with an error; worth asking again soon
};

struct Walked {
  Offer offer;
  ListCaching shelves[3];  // by ListKind
};

/// Asks for the lists in `kinds` and takes the others from `before`. Fails only when the connection does; a
/// server that refuses to list something has an empty list and an oddity.
io::Task<Walked> walk_offer(peer::Peer& peer, const ServerSpec& spec, std::vector<peer::ListKind> kinds,
                            Walked before);

}  // namespace relay::upstream
