// EraChoice: which generation of the protocol to speak with a server.
#pragma once

#include <cstdint>

namespace relay::peer {

/// Which era to speak. `probe` finds out; `modern` does not ask first: for servers without server/discover.
enum class EraChoice : std::uint8_t { probe, legacy, modern };

}  // namespace relay::peer
