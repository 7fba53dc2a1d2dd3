// A trial child: forked before the walls, does what an ordinary run does and stands still, so that its memory
// can be looked at.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"

namespace relay::zygote {

/// `trial` runs in the child; then `look` here, with the name that /proc knows the child by. The child ends
/// with it.
Result<void> watch_trial(const std::function<Result<void>()>& trial,
                         const std::function<Result<void>(const std::string& process)>& look);

}  // namespace relay::zygote
