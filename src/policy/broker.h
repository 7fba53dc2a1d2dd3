// Broker: the second step that an irreversible call needs. Two ways lead to a Confirmed:
//
//   by token     the call is answered with a token; operation_confirm arms it; the same call, issued again by
//   the same
//                client, consumes it. For every client, since it needs nothing but tools.
//   by question  where the client can show a form (elicitation), the person is asked while the call waits.
//
// A token is 128 random bits, bound to the digest of the exact call and to the client, works once and
// expires. State is in memory only: a restart forgets, which is the safe side. Loop thread only.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "authority/call.h"
#include "base/clock.h"
#include "base/random.h"

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
  std::string_view how_;  // "token" or "elicitation"
};

struct Challenge {
  std::string token;
  std::chrono::seconds ttl;
};

/// What the person said when the client showed the question.
enum class ConfirmationAnswer : std::uint8_t { agreed, declined, unanswered };

class Broker {
 public:
  Broker(const Clock& clock, RandomSource& random, std::chrono::seconds ttl)
      : clock_(clock), random_(random), ttl_(ttl) {}

  /// A new token for this call. The oldest pending one goes when there are too many.
  Challenge plan(const authority::Call& call);
  /// The operation_confirm step. False for a token that is unknown, expired or another client's.
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
    bool armed = false;
  };
  void sweep();
  void make_room();

  const Clock& clock_;
  RandomSource& random_;
  std::chrono::seconds ttl_;
  std::unordered_map<std::string, Entry> entries_;
};

/// Twelve hex digits that stand for a token in logs.
std::string fingerprint(std::string_view token);

}  // namespace relay::policy
