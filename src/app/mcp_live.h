// A World around some of the configured servers, for as long as a command needs them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/world.h"

namespace relay::app {

/// The entries of those names, all enabled ones when there are no names. Fails with the name that is not there.
Result<std::vector<upstream::ServerSpec>> pick_servers(const Config& config, const std::vector<std::string>& names);

/// Builds a World without toolsets whose fleet has these servers, runs the body, stops everything and ends the process with its code.
[[noreturn]] void run_with_servers(const Config& config, std::vector<upstream::ServerSpec> servers, std::function<io::Task<int>(World&)> body);

}  // namespace relay::app
