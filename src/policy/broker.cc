#include "policy/broker.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/limits.h"

namespace relay::policy {
namespace {

constexpr std::size_t kTokenBytes = 16;

// The session is part of who a client is: two windows of the same program do not confirm for each other.
std::string client_key(const authority::Caller& caller) {
  return caller.principal + '\0' + caller.client_name + '\0' + caller.session_id;
}

}  // namespace

Challenge Broker::plan(const authority::Call& call) {
  sweep();
  make_room();
  Challenge challenge{make_token(random_, kTokenBytes), ttl_};
  entries_.insert_or_assign(challenge.token,
                            Entry{authority::digest_of(call), client_key(call.caller), clock_.mono() + ttl_});
  return challenge;
}

bool Broker::arm(std::string_view token, const authority::Caller& caller) {
  sweep();
  const auto found = entries_.find(std::string(token));
  if (found == entries_.end() || found->second.client != client_key(caller)) return false;
  found->second.armed = true;
  return true;
}

std::optional<Confirmed> Broker::consume(const authority::Call& call) {
  sweep();
  if (entries_.empty()) return std::nullopt;
  const Sha256 digest = authority::digest_of(call);
  const std::string client = client_key(call.caller);
  const auto found = std::ranges::find_if(entries_, [&](const auto& item) {
    return item.second.armed && item.second.digest == digest && item.second.client == client;
  });
  if (found == entries_.end()) return std::nullopt;
  entries_.erase(found);
  return Confirmed(digest, "token");
}

std::optional<Confirmed> Broker::accept(const authority::Call& call, ConfirmationAnswer answer) {
  if (answer != ConfirmationAnswer::agreed) return std::nullopt;
  return Confirmed(authority::digest_of(call), "elicitation");
}

std::size_t Broker::pending() const {
  const MonoTime now = clock_.mono();
  return static_cast<std::size_t>(
      std::ranges::count_if(entries_, [&](const auto& item) { return item.second.expires > now; }));
}

void Broker::sweep() {
  const MonoTime now = clock_.mono();
  std::erase_if(entries_, [&](const auto& item) { return item.second.expires <= now; });
}

void Broker::make_room() {
  if (entries_.size() < limits::kPendingConfirmations) return;
  entries_.erase(
      std::ranges::min_element(entries_, {}, [](const auto& item) { return item.second.expires; }));
}

std::string fingerprint(std::string_view token) {
  return sha256_hex(token).substr(0, 12);
}

}  // namespace relay::policy
