// Grant: the permission to carry out one call. Only policy::Engine makes one, and it owns the very Call that was
// judged: what was admitted is what runs, there is no second copy that could have changed meanwhile.
#pragma once

#include <utility>

#include "authority/call.h"
#include "authority/decision.h"

namespace relay::policy {
class Engine;
}

namespace relay::authority {

class [[nodiscard]] Grant {
 public:
  Grant(Grant&&) noexcept = default;
  Grant& operator=(Grant&&) noexcept = default;
  Grant(const Grant&) = delete;
  Grant& operator=(const Grant&) = delete;

  [[nodiscard]] const Call& call() const { return call_; }
  [[nodiscard]] const Decision& decision() const { return decision_; }
  /// The tier after rules have raised it: the one that audit and confirmation go by.
  [[nodiscard]] Tier tier() const { return decision_.tier; }
  /// Of the call that was judged.
  [[nodiscard]] Sha256 digest() const { return digest_of(call_); }

 private:
  friend class policy::Engine;
  Grant(Call call, Decision decision) : call_(std::move(call)), decision_(std::move(decision)) {}

  Call call_;
  Decision decision_;
};

}  // namespace relay::authority
