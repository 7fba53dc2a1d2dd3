// The walls of a cage in the order in which they are built. Any that cannot be built is an error that names
// it.
#pragma once

#include "base/result.h"
#include "sandbox/cage_plan.h"
#include "sandbox/system_calls.h"

namespace relay::cage {

/// In the first process of the new namespaces: loopback, the way out, the root.
Result<void> restore_state(const sandbox::CagePlan& plan);
/// The first process keeps no power and cannot be looked into; it only waits.
Result<void> confine_init();
/// Becomes the server; returns only if that fails.
Error become_server(const sandbox::CagePlan& plan, const sandbox::SystemCallFilter& filter);

}  // namespace relay::cage
