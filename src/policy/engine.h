// PolicyEngine: judges calls. Pure: the same rules and the same call give the same Decision, always.
//
// The ladder, top to bottom: deny list, rules, mode, confirmation. A deny anywhere is final; nothing below it
// is asked. Only the PolicyEngine makes a Grant, from a call that it admits by itself or together with a
// Confirmed.
#pragma once

#include <memory>
#include <variant>
#include <vector>

#include "authority/grant.h"
#include "policy/broker.h"
#include "policy/rules.h"

namespace relay::policy {

/// A call that was not admitted, given back to whoever must answer and record it.
struct Refusal {
  authority::Call call;
  authority::Decision decision;  // deny or confirm, never allow
};

using Admission = std::variant<authority::Grant, Refusal>;

class PolicyEngine {
 public:
  /// Compiles every pattern; complains about each that RE2 refuses. With problems the engine denies
  /// everything.
  static PolicyEngine make(Rules rules, std::string_view path, std::vector<Problem>& problems);

  PolicyEngine(PolicyEngine&&) noexcept;
  PolicyEngine& operator=(PolicyEngine&&) noexcept;
  ~PolicyEngine();

  [[nodiscard]] authority::Decision decide(const authority::Call& call) const;

  /// Judges and, when it may run, grants.
  [[nodiscard]] Admission admit(authority::Call call) const;
  /// Judges again, from the first rung: a confirmation answers the last rung and no other, and only for the
  /// very call that it was given for.
  [[nodiscard]] Admission admit_confirmed(authority::Call call, Confirmed confirmed) const;

  [[nodiscard]] const Rules& rules() const;

 private:
  struct Compiled;
  explicit PolicyEngine(std::unique_ptr<const Compiled> compiled);
  std::unique_ptr<const Compiled> compiled_;
};

}  // namespace relay::policy
