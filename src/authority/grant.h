// Grant: the permission to carry out one call. Only policy::PolicyEngine makes one, and it owns the very Call
// that was judged: what was admitted is what runs, there is no second copy that could have changed meanwhile.
#pragma once

#include <memory>
#include <utility>

#include "authority/call.h"
#include "authority/decision.h"

namespace relay::policy {
class PolicyEngine;
}

namespace relay::authority {

class [[nodiscard]] Grant {
 public:
  Grant(Grant&&) noexcept = default;
  Grant& operator=(Grant&&) noexcept = default;
  Grant(const Grant&) = delete;
  Grant& operator=(const Grant&) = delete;

  [[nodiscard]] const Call& call() const { return judged_->call; }
  [[nodiscard]] const Decision& decision() const { return judged_->decision; }
  /// The tier after rules have raised it: the one that audit and confirmation go by.
  [[nodiscard]] Tier tier() const { return decision().tier; }
  /// Of the call that was judged.
  [[nodiscard]] Sha256 digest() const { return digest_of(call()); }

 private:
  friend class policy::PolicyEngine;
  struct Judged {
    Call call;
    Decision decision;
  };
  Grant(Call call, Decision decision) : judged_(new Judged{std::move(call), std::move(decision)}) {}

  std::unique_ptr<const Judged> judged_;  // passed on from stage to stage as it is
};

}  // namespace relay::authority
