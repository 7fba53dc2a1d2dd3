// `relay run`: one script, one run, its output on the terminal.
#pragma once

#include "base/log.h"
#include "cli/options.h"
#include "config/config.h"

namespace relay::cli {

int run_script(const config::Config& config, const CommandOptions& options, Log& log);

}  // namespace relay::cli
