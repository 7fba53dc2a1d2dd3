// Confirmer: asks a person, where the client can. The pipeline calls it when policy wants a confirmation.
#pragma once

#include "authority/call.h"
#include "authority/decision.h"
#include "io/task.h"
#include "policy/broker.h"

namespace relay::serving {
class Asker;
}  // namespace relay::serving

namespace relay::pipeline {

class Confirmer {
 public:
  virtual ~Confirmer() = default;
  /// False: the client cannot show a question, so the token is the way.
  [[nodiscard]] virtual bool can_ask() const = 0;
  virtual io::Task<policy::ConfirmationAnswer> ask(const authority::Call& call,
                                                   const authority::Decision& decision) = 0;
};

/// For calls that have nobody to ask: inner calls, the command line.
class NobodyToAsk final : public Confirmer {
 public:
  [[nodiscard]] bool can_ask() const override { return false; }
  io::Task<policy::ConfirmationAnswer> ask(const authority::Call&, const authority::Decision&) override {
    co_return policy::ConfirmationAnswer::unanswered;
  }
};

/// Through the client's own form (elicitation).
class ElicitingConfirmer final : public Confirmer {
 public:
  explicit ElicitingConfirmer(serving::Asker& asker) : asker_(asker) {}
  [[nodiscard]] bool can_ask() const override;
  io::Task<policy::ConfirmationAnswer> ask(const authority::Call& call,
                                           const authority::Decision& decision) override;

 private:
  serving::Asker& asker_;
};

}  // namespace relay::pipeline
