// The names under `tools` in the configuration: Relay's own tools, and what the gateway exposes.
#pragma once

#include <vector>

#include "config/config.h"

namespace relay::config {

/// A name that no tool of this configuration can have is a problem, with the nearest name that one has.
void check_tool_names(const Config& config, std::vector<ConfigProblem>& problems);

}  // namespace relay::config
