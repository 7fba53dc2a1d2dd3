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
  const Sha256 digest = authority::digest_of(call);
  const std::string client = client_key(call.caller);
  auto found = std::ranges::find_if(entries_, [&](const auto& item) {
    return item.second.armed_by.empty() && item.second.digest == digest && item.second.client == client;
  });
  if (found == entries_.end()) {
    make_room();
    found = entries_.emplace(ids_.make_secret(kTokenBytes), Entry{digest, client, {}}).first;
  }
  found->second.expires = clock_.mono() + ttl_;
  Challenge challenge{found->first, ttl_, id_of(found->first), confirming_};
  if (observer_) observer_->call_waits(challenge.id, call, ttl_);
  return challenge;
}

std::string Broker::id_of(std::string_view token) const {
  return ids_.of_node(fingerprint(token));
}

Broker::Entries::iterator Broker::find_id(std::string_view id) {
  sweep();
  return std::ranges::find_if(entries_, [&](const auto& item) { return id_of(item.first) == id; });
}

bool Broker::approve(std::string_view id) {
  const auto found = find_id(id);
  if (found == entries_.end()) return false;
  found->second.armed_by = "the operator";
  found->second.expires = clock_.mono() + ttl_;
  return true;
}

bool Broker::deny(std::string_view id) {
  const auto found = find_id(id);
  if (found == entries_.end()) return false;
  forget(found);
  return true;
}

void Broker::forget(Entries::iterator entry) {
  if (observer_) observer_->call_gone(id_of(entry->first));
  entries_.erase(entry);
}

bool Broker::arm(std::string_view token, const authority::Caller& caller) {
  sweep();
  const auto found = entries_.find(std::string(token));
  if (confirming_ != Confirming::agents_too) return false;
  if (found == entries_.end() || found->second.client != client_key(caller)) return false;
  found->second.armed_by = "token";
  return true;
}

std::optional<Confirmed> Broker::consume(const authority::Call& call) {
  sweep();
  if (entries_.empty()) return std::nullopt;
  const Sha256 digest = authority::digest_of(call);
  const std::string client = client_key(call.caller);
  const auto found = std::ranges::find_if(entries_, [&](const auto& item) {
    return !item.second.armed_by.empty() && item.second.digest == digest && item.second.client == client;
  });
  if (found == entries_.end()) return std::nullopt;
  const std::string_view how = found->second.armed_by;
  forget(found);
  return Confirmed(digest, how);
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
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    const auto next = std::next(entry);
    if (entry->second.expires <= now) forget(entry);
    entry = next;
  }
}

void Broker::make_room() {
  if (entries_.size() < limits::kPendingConfirmations) return;
  forget(std::ranges::min_element(entries_, {}, [](const auto& item) { return item.second.expires; }));
}

std::string fingerprint(std::string_view token) {
  return sha256_hex(token).substr(0, 12);
}

}  // namespace relay::policy
