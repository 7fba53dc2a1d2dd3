// `relay serve` and `relay stdio`: a loop, a World, and a transport in front of it.
#pragma once

#include "base/log.h"
#include "config/config.h"

namespace relay::app {

/// Whoever reaches the port can do what the policy allows: off loopback that must not be everybody.
Result<void> check_exposure(const config::Config& config);

/// Both read their configuration again from `sources` when it changes.
int run_serve(const config::Config& config, const config::ConfigSources& sources, Log& log);
int run_stdio(const config::Config& config, const config::ConfigSources& sources, Log& log);

}  // namespace relay::app
