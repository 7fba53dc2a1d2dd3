// The processes that wait: relay-cage itself outside, and process 1 inside. Both pass signals on; process 1
// reaps whatever the server leaves behind, and when it ends the kernel ends everything in the cage.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>

#include "base/fd.h"

namespace relay::cage {

/// Blocks what will be waited for. Before any fork, so that nothing gets lost.
void hold_signals();
/// Blocks nothing: for the process that becomes the server.
void release_signals();
enum class Streams { all, input_and_output };
/// The pipes are the server's: held by another process they would stay open after it closed them.
void let_go_of_pipes(Streams streams);

enum class Recipient { process, group };
/// Until `child` has ended; gives its status. Reaps all others. sandbox::end_signal() ends the waiting as if
/// the child had been killed. `meanwhile` is called every limits::kCageMemoryWatch.
int wait_and_pass_on(pid_t child, Recipient recipient, const std::function<void()>& meanwhile = {});
/// With the same code or signal. Never returns.
[[noreturn]] void end_like(int status);

/// In process 1: waits for the server, then tells how it ended through `report` and ends. With a limit it
/// looks at how much memory all processes use, and kills them all when it is more. Never returns.
[[noreturn]] void wait_inside(pid_t server, Fd report, std::size_t memory_bytes_max);

/// Outside: waits for process 1 and ends in the same way as the server did, with a line on stderr if a limit
/// ended it. Never returns.
[[noreturn]] void wait_outside(pid_t init, Fd report);

}  // namespace relay::cage
