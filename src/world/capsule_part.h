// CapsulePart: the signing keys, and the capsules that are made with them and kept on disk.
#pragma once

#include <atomic>
#include <memory>

#include "capsule/builder.h"
#include "capsule/store.h"
#include "io/thread_pool.h"
#include "world/part.h"
#include "world/services.h"

namespace relay::world {

class CapsulePart final : public Part {
 public:
  /// Makes a key where there is none. The state directory exists.
  static Result<std::unique_ptr<CapsulePart>> open(const config::Config& config, const Services& services,
                                                   io::ThreadPool& pool);

  [[nodiscard]] const capsule::KeyRing& keys() const { return builder_.keys(); }
  [[nodiscard]] capsule::CapsuleBuilder& builder() { return builder_; }
  [[nodiscard]] capsule::CapsuleStore& store() { return *store_; }
  /// Writes the capsule to the store soon, unless it holds a secret (capsule_secrets.h). While one is being
  /// written, others are not kept: the store is a cache, and must not slow runs down.
  void keep(const capsule::Capsule& capsule);

  /// Prunes the store now and then.
  void start(Purpose purpose) override;

 private:
  CapsulePart(const Services& services, io::ThreadPool& pool, std::shared_ptr<const capsule::KeyRing> keys,
              std::unique_ptr<capsule::CapsuleStore> store);

  Services services_;
  io::ThreadPool& pool_;
  capsule::CapsuleBuilder builder_;
  std::shared_ptr<capsule::CapsuleStore> store_;
  std::shared_ptr<std::atomic<bool>> writing_ = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace relay::world
