#include "world/housekeeping.h"

#include "io/spawn.h"

namespace relay::world {
namespace {

constexpr auto kInterval = std::chrono::hours(1);

}  // namespace

io::Task<void> keep_pruned(io::ThreadPool& pool, std::function<Result<void>()> prune, Log& log) {
  for (;;) {
    const auto pruned = co_await pool.run(prune);
    if (!pruned) log.warn("a cache could not be tidied", {{"reason", pruned.error().message}});
    RELAY_CO_CHECK(co_await io::sleep_for(kInterval));
  }
}

}  // namespace relay::world
