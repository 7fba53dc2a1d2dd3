// The tree that a caged server sees: the system's programs and libraries, read-only; an /etc, /dev and /proc
// of its own; an empty /tmp and home; and the paths that its plan declares, at the places where they are
// outside.
#pragma once

#include "base/result.h"
#include "sandbox/cage_plan.h"

namespace relay::cage {

/// Needs the mount namespace and its capabilities. What is declared and does not exist is an error.
Result<void> enter_private_root(const sandbox::CagePlan& plan);

}  // namespace relay::cage
