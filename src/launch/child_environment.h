// The environment of an upstream server: what any program needs to find itself, and what its entry in the
// configuration says. Nothing else of ours: keys and tokens in it are none of the server's business.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace relay::launch {

using Environment = std::map<std::string, std::string>;

/// This process's own.
Environment our_environment();
/// Whether a child uses the network as this process does: the same certificates, proxies and registries. A
/// cage has a proxy of its own and does not show the files of the certificates.
enum class NetworkSettings : std::uint8_t { withheld, passed };

/// The part of `ours` that is harmless, overlaid with `own`.
Environment make_child_environment(const Environment& ours, const Environment& own,
                                   NetworkSettings network = NetworkSettings::withheld);

}  // namespace relay::launch
