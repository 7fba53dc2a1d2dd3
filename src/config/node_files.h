// What one Relay, or several that serve the same clients, are known by: the node's name, which is part of
// every id, and the key that signs cursors and request states.
//
//   <state>/node         four characters of base32, made once; `server.node` says another
//   <state>/state.key    URL-safe base64 of 32 random bytes, mode 0600; `server.stateKeyPath` names another
//   file
//
// Blocking: for the start of the program.
#pragma once

#include <string>

#include "base/random.h"
#include "config/config.h"

namespace relay::config {

/// Makes the file where it is needed and missing. Fails when it holds no name.
Result<std::string> open_node(const Config& config, RandomSource& random);
/// The same for the key; two Relays that start at once agree on the key of the first.
Result<std::string> open_state_key(const Config& config, RandomSource& random);

}  // namespace relay::config
