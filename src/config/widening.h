// What a changed configuration would execute or grant that the one before did not. A change that only
// tightens, or means nothing for what may happen, has no widenings; everything else has at least one, and a
// key that is not known here counts as one. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"

namespace relay::config {

struct Widening {
  std::string path;  // "policy.mode", "mcps.github.command"
  std::string what;  // "changes", "is new", "allows more"
};

/// Of everything but the upstream servers.
std::vector<Widening> find_widenings(const Config& before, const Config& after);
/// Of one upstream server. A server that is new and disabled starts nothing.
std::vector<Widening> find_server_widenings(const Config& before, const Config& after, std::string_view name);

/// "policy.mode allows more, mcps.github is new".
std::string describe(const std::vector<Widening>& widenings);

}  // namespace relay::config
