// `relay approvals list|show|approve|deny`: the operator's answers to what a running Relay waits for.
#pragma once

#include "cli/options.h"
#include "config/config.h"

namespace relay::cli {

int run_approvals(const CommandOptions& options, const config::Config& config);

}  // namespace relay::cli
