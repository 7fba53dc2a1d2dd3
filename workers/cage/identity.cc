#include "identity.h"

#include <unistd.h>

namespace relay::cage {

std::optional<sandbox::IdMapping> choose_mapping(const sandbox::CagePlan& plan) {
  if (!sandbox::changes_user(plan.user)) return std::nullopt;
  return sandbox::IdMapping{.inside = kUserInside,
                            .outside = sandbox::kCageUsers + static_cast<unsigned>(::getpid())};
}

}  // namespace relay::cage
