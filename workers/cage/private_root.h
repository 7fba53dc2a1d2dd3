// The tree that a caged server sees: the system's programs and libraries, read-only; an /etc, /dev and /proc
// of its own; an empty /tmp and home, which share one budget; and the paths that its plan declares, at the
// places where they are outside.
#pragma once

#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "sandbox/cage_plan.h"

namespace relay::cage {

/// Taken while the old root is there, put in place after it is gone from view. A tree that was taken needs no
/// path any more, so nothing that the server left behind can lead a mount astray.
struct Tree {
  std::string path;
  Fd mount;
  bool is_directory = true;
};

struct Link {
  std::string path;
  std::string target;
};

struct Parts {
  std::vector<Tree> trees;  // parents before children
  std::vector<Link> links;
};

/// The declared paths; what is declared and does not exist is an error. With a mapping (see
/// sandbox::open_mount_mapping; needs root, outside of the cage's namespaces) each is an idmapped mount. A
/// path to read whose filesystem has no idmapped mounts is shown without; a path to write is an error then.
Result<std::vector<Tree>> take_declared(const sandbox::CagePlan& plan, const Fd* mapping);
/// The system's own. Needs the mount namespace and its capabilities, as all that follows.
Result<Parts> take_system();
/// What is made anew belongs to the user that calls it.
Result<void> enter_private_root(const sandbox::CagePlan& plan, const Parts& system,
                                const std::vector<Tree>& declared);

}  // namespace relay::cage
