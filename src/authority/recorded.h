// Recorded: a Grant whose audit record is open. Only audit::Journal makes one; every executor demands it.
//
// It cannot be copied, and closing takes it by value: one record has one end. A Recorded that is dropped
// without being closed - the coroutine was cancelled, something threw - closes itself as cancelled, so that
// no record stays open.
#pragma once

#include <memory>
#include <utility>

#include "authority/effects.h"
#include "authority/grant.h"

namespace relay::audit {
class Journal;
}

namespace relay::authority {

class Recorded;

/// What a Recorded needs to know of the journal. Called on the loop thread; must not throw.
class RecordKeeper {
 public:
  virtual ~RecordKeeper() = default;
  virtual void abandon(const Grant& grant) noexcept = 0;
  /// May outlive the keeper; then what is written goes nowhere.
  [[nodiscard]] virtual std::shared_ptr<EffectWriter> effect_writer() = 0;
};

class [[nodiscard]] Recorded {
 public:
  Recorded(Recorded&& other) noexcept
      : keeper_(std::exchange(other.keeper_, nullptr)),
        grant_(std::move(other.grant_)),
        effects_(std::move(other.effects_)) {}
  Recorded(const Recorded&) = delete;
  Recorded& operator=(const Recorded&) = delete;
  Recorded& operator=(Recorded&&) = delete;
  ~Recorded() {
    if (!keeper_) return;
    if (effects_) effects_->close();
    keeper_->abandon(grant_);
  }

  [[nodiscard]] const Call& call() const { return grant_.call(); }
  [[nodiscard]] const Decision& decision() const { return grant_.decision(); }
  [[nodiscard]] Tier tier() const { return grant_.tier(); }
  /// Where doors write down what they do for this call. Precondition: the record is open.
  [[nodiscard]] const std::shared_ptr<Effects>& effects() const {
    if (!effects_) effects_.reset(new Effects(keeper_->effect_writer(), call()));
    return effects_;
  }

 private:
  friend class audit::Journal;
  Recorded(RecordKeeper& keeper, Grant grant) : keeper_(&keeper), grant_(std::move(grant)) {}
  /// The closing line is on its way: the destructor has nothing left to do.
  void settle() {
    if (effects_) effects_->close();
    keeper_ = nullptr;
  }

  RecordKeeper* keeper_;
  Grant grant_;
  mutable std::shared_ptr<Effects> effects_;  // made at its first use: most calls have none
};

}  // namespace relay::authority
