// Waits for SIGTERM or SIGINT on the loop.
#pragma once

#include "io/task.h"

namespace relay::app {

/// Returns the first signal; a second one, while we are stopping, ends the process at once.
io::Task<int> wait_for_stop_signal(io::Loop executor);

}  // namespace relay::app
