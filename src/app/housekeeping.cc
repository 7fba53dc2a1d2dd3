#include "app/housekeeping.h"

#include "io/spawn.h"

namespace relay::app {
namespace {

constexpr auto kInterval = std::chrono::hours(1);

}  // namespace

io::Task<void> keep_house(io::ThreadPool& pool, capsule::CapsuleStore& store, packages::Packages* packages,
                          Log& log) {
  for (;;) {
    auto prune = [&store, packages]() -> Result<capsule::PruneReport> {
      if (packages) RELAY_CHECK(packages->prune());
      return store.prune();
    };
    const auto report = co_await pool.run(std::move(prune));
    if (!report) log.warn("a cache could not be tidied", {{"reason", report.error().message}});
    if (report && report->removed > 0)
      log.info("old capsules removed",
               {{"removed", report->removed}, {"left", report->left}, {"bytesLeft", report->bytes_left}});
    RELAY_CO_CHECK(co_await io::sleep_for(kInterval));
  }
}

}  // namespace relay::app
