// For tests of what is behind the door of an Upstream: connections, restarts, admission. Test-only.
#pragma once

#include "upstream/upstream.h"

namespace relay::upstream {

struct OpenDoor : Upstream {
  static auto sending() { return &OpenDoor::send; }
  static auto watching() { return &OpenDoor::start_watch; }
};

/// Sends without a record.
inline io::Task<peer::PeerAnswer> send_behind_door(Upstream& upstream, peer::Outgoing outgoing,
                                                   peer::RequestScope& exchange) {
  return (upstream.*OpenDoor::sending())(std::move(outgoing), exchange);
}

inline io::Task<void> watch_behind_door(Upstream& upstream, std::string uri) {
  return (upstream.*OpenDoor::watching())(std::move(uri));
}

}  // namespace relay::upstream
