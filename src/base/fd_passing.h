// A message over a unix socket that may carry one descriptor (SCM_RIGHTS). Nothing here allocates, so that a
// process may use it between fork and exec. An interrupted system call is repeated.
#pragma once

#include <sys/types.h>

#include <span>
#include <string_view>

#include "base/fd.h"

namespace relay {

/// Sends the bytes, and the descriptor unless it is -1, in one message; the caller keeps the descriptor. A
/// descriptor needs at least one byte beside it. Gives what sendmsg gives: -1 with errno on failure. A socket
/// that the other side closed is EPIPE, never a signal.
ssize_t send_with_fd(int socket, std::string_view bytes, int fd, int flags = 0);

struct ReceivedMessage {
  ssize_t bytes = -1;    // 0: the other side closed; -1: failed
  int error_number = 0;  // errno of a failure
  Fd fd;                 // closes on exec; not open when none came
};

/// Receives one message into `room`. Of several descriptors the first is kept and the others are closed.
ReceivedMessage receive_with_fd(int socket, std::span<char> room, int flags = 0);

}  // namespace relay
