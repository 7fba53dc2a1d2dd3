// The header of a `done` frame, read with suspicion: a guest may have written any of it.
#pragma once

#include <string_view>

#include "executors/run.h"

namespace relay::executors {

/// Exit code, value, error and usage into the outcome; texts are cut to their limits. Fails when it is no
/// done header.
Result<void> apply_done_header(std::string_view header, RunOutcome& outcome);

}  // namespace relay::executors
