// Throwing away what caches no longer need: capsules, layers of dependencies, installations. At the start and
// then every hour, on the pool, so that nothing waits for it.
#pragma once

#include "base/log.h"
#include "capsule/store.h"
#include "io/thread_pool.h"
#include "packages/packages.h"

namespace relay::app {

/// Never completes; ends with the loop.
io::Task<void> keep_house(io::ThreadPool& pool, capsule::CapsuleStore& store, packages::Packages* packages,
                          Log& log);

}  // namespace relay::app
