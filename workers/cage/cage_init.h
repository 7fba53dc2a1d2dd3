// The two processes that wait: relay-cage itself outside, and process 1 inside. Both pass signals on; process
// 1 reaps whatever the server leaves behind, and when it ends the kernel ends everything in the cage.
#pragma once

#include <sys/types.h>

#include "base/fd.h"

namespace relay::cage {

/// Blocks what will be waited for. Before any fork, so that nothing gets lost.
void hold_signals();

/// In process 1: waits for the server, then tells how it ended through `report` and ends. Never returns.
[[noreturn]] void wait_inside(pid_t server, Fd report);

/// Outside: waits for process 1 and ends in the same way as the server did. Never returns.
[[noreturn]] void wait_outside(pid_t init, Fd report);

}  // namespace relay::cage
