// The one way out of a cage with hosts: a listening socket on its loopback that relay accepts from.
//
// A socket belongs to the network namespace it was made in, whoever holds it. So the cage makes it, hands it
// to relay, and keeps nothing: relay reads each request, checks the host, and connects from outside. Nothing
// of ours runs inside.
#pragma once

#include <cstdint>

#include "base/result.h"

namespace relay::cage {

/// Brings up 127.0.0.1, which a new network namespace has but not switched on. Needs its capabilities.
Result<void> raise_loopback();
/// Listens on 127.0.0.1, gives the socket away over `socket`, and says the port.
Result<std::uint16_t> give_out_listener(int socket);
/// What programs look at to find their proxy.
void set_proxy_variables(std::uint16_t port);

}  // namespace relay::cage
