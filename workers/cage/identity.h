// Who the processes of a cage are. A plain user stays that user. Root becomes a user that owns nothing on the
// machine and has a usual number inside; the declared paths are mounted so that it owns there what root owns.
#pragma once

#include <optional>

#include "sandbox/cage_plan.h"
#include "sandbox/namespaces.h"

namespace relay::cage {

/// What programs see; a number above 0, because many try things as root that need capabilities.
inline constexpr unsigned kUserInside = 1000;
/// None: the user's own id.
std::optional<sandbox::IdMapping> choose_mapping(const sandbox::CagePlan& plan);

}  // namespace relay::cage
