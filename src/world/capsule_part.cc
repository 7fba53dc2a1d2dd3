#include "world/capsule_part.h"

#include "io/spawn.h"
#include "world/capsule_secrets.h"
#include "world/housekeeping.h"

namespace relay::world {
namespace {

constexpr auto kWriteDelay = std::chrono::milliseconds(5);  // most short runs are answered by then

}  // namespace

CapsulePart::CapsulePart(const Services& services, io::ThreadPool& pool,
                         std::shared_ptr<const capsule::KeyRing> keys,
                         std::unique_ptr<capsule::CapsuleStore> store)
    : services_(services),
      pool_(pool),
      builder_(std::move(keys), capsule::RuntimeIds{}),
      store_(std::move(store)) {}

Result<std::unique_ptr<CapsulePart>> CapsulePart::open(const config::Config& config, const Services& services,
                                                       io::ThreadPool& pool) {
  RELAY_TRY(capsule::KeyRing keys, capsule::KeyRing::open(config.signing_key_path));
  if (keys.is_new())
    services.log.info("made a signing key", {{"fingerprint", keys.current().public_key().fingerprint()},
                                             {"path", config.signing_key_path.string()}});
  RELAY_TRY(auto store, capsule::CapsuleStore::open(config.cache_dir, services.clock));
  return std::unique_ptr<CapsulePart>(new CapsulePart(
      services, pool, std::make_shared<const capsule::KeyRing>(std::move(keys)), std::move(store)));
}

void CapsulePart::keep(const capsule::Capsule& capsule) {
  if (writing_->exchange(true)) return;
  auto save = [store = store_, redactor = services_.redactor, writing = writing_, capsule] {
    if (!holds_secret(capsule, *redactor)) [[maybe_unused]]
      const auto saved = store->save(capsule);
    writing->store(false);
  };
  auto delay = std::make_shared<io::asio::steady_timer>(services_.loop, kWriteDelay);
  delay->async_wait(
      [&pool = pool_, delay, save = std::move(save)](const boost::system::error_code&) { pool.post(save); });
}

void CapsulePart::start(Purpose purpose) {
  if (purpose == Purpose::run) return;
  auto prune = [store = store_, &log = services_.log]() -> Result<void> {
    RELAY_TRY(const capsule::PruneReport report, store->prune());
    if (report.removed > 0)
      log.info("old capsules removed",
               {{"removed", report.removed}, {"left", report.left}, {"bytesLeft", report.bytes_left}});
    return {};
  };
  io::spawn(services_.loop, keep_pruned(pool_, std::move(prune), services_.log), "prune capsules");
}

}  // namespace relay::world
