// The wire over the pipes of a child process: one message a line.
//
// Reading and writing are two coroutines of their own. What gathers while one write is under way goes out in
// the next; a server that does not read its stdin is given up to a limit, and then every further message is
// refused instead of waiting.
#pragma once

#include <memory>

#include "io/child.h"
#include "peer/peer_wire.h"

namespace relay::peer {

/// The child must outlive the wire's life up to drop().
std::shared_ptr<Wire> make_stdio_wire(io::Loop executor, io::Child& child);

}  // namespace relay::peer
