// `relay status`: which Relays run for this project, and how they are.
#pragma once

#include <vector>

#include "app/status_socket.h"
#include "cli/options.h"

namespace relay::cli {

/// 0 when at least one runs, otherwise 1.
int run_status(const CommandOptions& options, const config::Config& config);

/// The upstream servers in its report, as `server_info` describes them; none without a report.
std::vector<json::object> servers_of(const app::RunningRelay& relay);

}  // namespace relay::cli
