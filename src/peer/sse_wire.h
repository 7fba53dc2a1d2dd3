// The wire of 2024-11-05: one GET stream for everything the server says, and an address it names for what we
// say.
#pragma once

#include <memory>

#include "peer/http_channel.h"
#include "peer/peer_wire.h"

namespace relay::peer {

/// Opens the stream and waits for the address. It must be of the endpoint's own origin: our header fields go
/// there.
io::Task<std::shared_ptr<Wire>> open_sse_wire(io::Loop executor, std::shared_ptr<HttpChannel> channel);

}  // namespace relay::peer
