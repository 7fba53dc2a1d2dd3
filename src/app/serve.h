// `relay serve`, `relay stdio` and `relay run`: a loop, a World, and a transport in front of it.
#pragma once

#include "app/config.h"
#include "app/options.h"
#include "base/log.h"

namespace relay::app {

/// Whoever reaches the port can do what the policy allows: off loopback that must not be everybody.
Result<void> check_exposure(const Config& config);

/// The first two read their configuration again from `sources` when it changes.
int run_serve(const Config& config, const ConfigSources& sources, Log& log);
int run_stdio(const Config& config, const ConfigSources& sources, Log& log);
int run_script(const Config& config, const CommandOptions& options, Log& log);

}  // namespace relay::app
