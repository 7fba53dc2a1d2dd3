// Broker: the second step that an irreversible call needs. Three ways lead to a Confirmed:
//
//   by the operator  the call is answered with an id; the operator approves it (`relay approvals approve
//   ID`);
//                    the same call, issued again by the same client, consumes the approval.
//   by question      where the client can show a form (elicitation), the person is asked while the call
//   waits. by token         only where the configuration lets agents confirm (policy.agentMayConfirm): the
//   call is
//                    answered with a token, which operation_confirm arms.
//
// A token is 128 random bits, bound to the digest of the exact call and to the client, works once and
// expires; the id is its fingerprint. State is in memory of this process only
// (docs/decisions/0031-room-for-a-second-machine.md): a restart forgets, which is the safe side.
// Loop thread only.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "authority/call.h"
#include "base/clock.h"
#include "base/id_maker.h"

namespace relay::policy {

/// Proof that a person (or a second, deliberate step) agreed to one exact call. Only the Broker makes one.
class [[nodiscard]] Confirmed {
 public:
  Confirmed(Confirmed&&) noexcept = default;
  Confirmed& operator=(Confirmed&&) noexcept = default;
  Confirmed(const Confirmed&) = delete;
  Confirmed& operator=(const Confirmed&) = delete;

  [[nodiscard]] const Sha256& digest() const { return digest_; }
  [[nodiscard]] std::string_view how() const { return how_; }

 private:
  friend class Broker;
  Confirmed(const Sha256& digest, std::string_view how) : digest_(digest), how_(how) {}
  Sha256 digest_;
  std::string_view how_;  // "the operator", "elicitation" or "token"
};

/// Who may take the second step besides the person in front of the client.
enum class Confirming : std::uint8_t { operator_only, agents_too };

struct Challenge {
  std::string token;
  std::chrono::seconds ttl;
  std::string id = {};  // what the operator names it by
  Confirming confirming = Confirming::operator_only;
};

/// Told about calls that wait for the operator, so that they can be shown. Loop thread; must not call back.
class BrokerObserver {
 public:
  virtual ~BrokerObserver() = default;
  /// Also when the same call is refused once more: its time begins anew.
  virtual void call_waits(const std::string& id, const authority::Call& call, std::chrono::seconds ttl) = 0;
  /// It was used, denied, or its time is over.
  virtual void call_gone(const std::string& id) = 0;
};

/// What the person said when the client showed the question.
enum class ConfirmationAnswer : std::uint8_t { agreed, declined, unanswered };

class Broker {
 public:
  Broker(const Clock& clock, IdMaker ids, std::chrono::seconds ttl,
         Confirming confirming = Confirming::operator_only)
      : clock_(clock), ids_(std::move(ids)), ttl_(ttl), confirming_(confirming) {}

  void set_observer(BrokerObserver* observer) { observer_ = observer; }
  [[nodiscard]] Confirming confirming() const { return confirming_; }

  /// The token of this call, a new one unless the same call waits already. The oldest goes when there are too
  /// many.
  Challenge plan(const authority::Call& call);
  /// The operator's answer. False for an id that is unknown or expired. An approval lives for a new ttl.
  bool approve(std::string_view id);
  bool deny(std::string_view id);
  /// The operation_confirm step. False for a token that is unknown, expired or another client's, and always
  /// where agents do not confirm.
  bool arm(std::string_view token, const authority::Caller& caller);
  /// Uses up an armed token for exactly this call by this client, if there is one.
  std::optional<Confirmed> consume(const authority::Call& call);
  /// Turns the answer to an elicitation into a confirmation, if it is one.
  std::optional<Confirmed> accept(const authority::Call& call, ConfirmationAnswer answer);

  [[nodiscard]] std::size_t pending() const;
  [[nodiscard]] std::chrono::seconds ttl() const { return ttl_; }

 private:
  struct Entry {
    Sha256 digest;
    std::string client;
    MonoTime expires;
    std::string_view armed_by = {};  // empty: it still waits
  };
  using Entries = std::unordered_map<std::string, Entry>;
  [[nodiscard]] std::string id_of(std::string_view token) const;
  Entries::iterator find_id(std::string_view id);
  void forget(Entries::iterator entry);
  void sweep();
  void make_room();

  const Clock& clock_;
  IdMaker ids_;
  std::chrono::seconds ttl_;
  Confirming confirming_;
  BrokerObserver* observer_ = nullptr;
  Entries entries_;
};

/// Twelve hex digits that stand for a token in logs.
std::string fingerprint(std::string_view token);

}  // namespace relay::policy
