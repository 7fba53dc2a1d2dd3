// `relay clean`: removes what can be made again and what ended processes left behind.
#pragma once

#include "cli/options.h"

namespace relay::cli {

/// 0: clean. 1: a Relay runs for this project, or something could not be removed. 2: nobody could be asked.
int run_clean(const CommandOptions& options, const config::Config& config);

}  // namespace relay::cli
