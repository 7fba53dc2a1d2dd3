// The system call list named "server": what a program in a cage is refused.
#pragma once

#include "base/result.h"

namespace relay::sandbox {

/// Adds the rules to a libseccomp context (scmp_filter_ctx) whose default is to allow.
Result<void> add_server_rules(void* context);

}  // namespace relay::sandbox
