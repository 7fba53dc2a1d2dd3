// `relay classify TEXT`: what a shell command would run, and how the configured policy judges it. Nothing
// runs.
#pragma once

#include "cli/options.h"
#include "config/config.h"

namespace relay::cli {

int run_classify(const CommandOptions& options, const config::Config& config);

}  // namespace relay::cli
