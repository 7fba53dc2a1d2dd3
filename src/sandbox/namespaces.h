// Namespaces and privileges: each function builds one wall and says in its error which one it was.
//
// Works as root and as anybody else. As root the worker ends up as nobody on the machine, too; as a user it
// keeps that user's id outside and is nobody inside, with no capability anywhere.
#pragma once

#include <sys/types.h>

#include "base/result.h"
#include "sandbox/launch_plan.h"

namespace relay::sandbox {

/// The id inside: the kernel's own "nobody".
inline constexpr unsigned kNobody = 65534;

/// Forks a child into the plan's new namespaces: it is process 1 there, holds every capability there, and
/// goes on only after its ids are mapped (to nobody, or to the user's own when the plan has no
/// unprivileged_user). Returns 0 in the child and its pid in the parent, like fork. A level without
/// namespaces forks plainly.
Result<pid_t> fork_into_namespaces(const LaunchPlan& plan);

/// An empty read-only root with nothing mounted below it; needs the mount namespace.
Result<void> enter_empty_root();
/// Becomes nobody; needs the user namespace.
Result<void> become_nobody();
/// Empties every capability set, the bounding set included, and locks them so.
Result<void> drop_capabilities();
Result<void> forbid_new_privileges();
Result<void> forbid_dumps();
/// SIGKILL when the parent ends. Changing ids forgets it, so it comes after become_nobody.
Result<void> die_with_parent();

}  // namespace relay::sandbox
