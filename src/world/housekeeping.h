// Throwing away what a cache no longer needs: capsules, layers of dependencies, installations. At the start
// and then every hour, on the pool, so that nothing waits for it.
#pragma once

#include <functional>

#include "base/log.h"
#include "io/thread_pool.h"

namespace relay::world {

/// Never completes; ends with the loop. `prune` blocks and is called on a pool thread.
io::Task<void> keep_pruned(io::ThreadPool& pool, std::function<Result<void>()> prune, Log& log);

}  // namespace relay::world
