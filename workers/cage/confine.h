// The walls of a cage in the order in which they are built. Any that cannot be built is an error that names
// it.
#pragma once

#include <optional>
#include <vector>

#include "base/result.h"
#include "private_root.h"
#include "sandbox/cage_plan.h"
#include "sandbox/namespaces.h"
#include "sandbox/system_calls.h"

namespace relay::cage {

/// In the first process of the new namespaces: loopback, the way out, the root, the user. `declared` holds
/// the declared paths when there is a mapping, because only the outside can map them.
Result<void> build_walls(const sandbox::CagePlan& plan, const std::optional<sandbox::IdMapping>& mapping,
                         std::vector<Tree> declared);
/// The first process keeps no power and cannot be looked into; it only waits.
Result<void> confine_init();
/// Becomes the server; returns only if that fails.
Error become_server(const sandbox::CagePlan& plan, const sandbox::SystemCallFilter& filter);

}  // namespace relay::cage
