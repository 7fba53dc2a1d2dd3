// Namespaces and privileges: each function builds one wall and says in its error which one it was.
//
// Works as root and as anybody else. As root the worker ends up as nobody on the machine, too; as a user it
// keeps that user's id outside and is nobody inside, with no capability anywhere.
#pragma once

#include <sys/types.h>

#include <optional>

#include "base/fd.h"
#include "base/result.h"
#include "sandbox/launch_plan.h"

namespace relay::sandbox {

/// The id inside: the kernel's own "nobody".
inline constexpr unsigned kNobody = 65534;

/// Who a process is inside of a user namespace and outside of it. Groups have the same numbers.
struct IdMapping {
  unsigned inside = 0;
  unsigned outside = 0;
};

/// Whether our own user namespace knows this id. The root of a container without its own users does not know
/// high ones: it is an ordinary user of the machine.
bool maps_user(unsigned id);

/// Forks a child into the plan's new namespaces: it is process 1 there, holds every capability there, and
/// goes on only after its ids are mapped (to nobody, or to the user's own when the plan has no
/// unprivileged_user). Returns 0 in the child and its pid in the parent, like fork. A level without
/// namespaces forks plainly. With a mapping of its own the child is not mapped yet: it becomes `inside` by
/// become_user. That needs root.
Result<pid_t> fork_into_namespaces(const LaunchPlan& plan, std::optional<IdMapping> mapping = std::nullopt);

/// A user namespace for an idmapped mount: what belongs to `owner` on disk belongs to `outside` through the
/// mount, and the other way round for what is made there. All other ids stay. Needs root.
Result<Fd> open_mount_mapping(unsigned owner, unsigned outside);

/// An empty read-only root with nothing mounted below it; needs the mount namespace.
Result<void> enter_empty_root();
/// Becomes nobody; needs the user namespace.
Result<void> become_nobody();
/// Becomes the mapped user and leaves all groups; needs the user namespace, keeps capabilities in it.
Result<void> become_user(unsigned inside);
/// Empties every capability set, the bounding set included, and locks them so.
Result<void> drop_capabilities();
Result<void> forbid_new_privileges();
Result<void> forbid_dumps();
/// SIGKILL when the parent ends. Changing ids forgets it, so it comes after become_nobody.
Result<void> die_with_parent();

}  // namespace relay::sandbox
