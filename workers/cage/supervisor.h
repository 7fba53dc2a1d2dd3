// The supervisor of a server without a cage: its parent, and the foster parent of everything that it starts,
// also of what leaves its session (PR_SET_CHILD_SUBREAPER). When the server ends, or relay says so, or relay
// is gone, the supervisor ends all of it.
//
// relay starts it with sandbox::end_signal() as the signal of its own death, so a relay that is killed takes
// its servers along. It is no wall: the server is trusted, it may kill the supervisor, and a program that
// runs as another user stays.
#pragma once

namespace relay::cage {

/// Runs `argv[0]`, looked up in PATH, and ends as it does. Never returns.
[[noreturn]] void supervise(char** argv);

}  // namespace relay::cage
