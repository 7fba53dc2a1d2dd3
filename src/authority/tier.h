// Tier: how far the effect of a call reaches if it was a mistake. Policy modes, confirmation and the audit
// trail all speak of these four.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace relay::authority {

enum class Tier : std::uint8_t {
  read_only = 0,     // looks, changes nothing
  reversible = 1,    // changes little, and it is easily undone
  stateful = 2,      // somebody would notice: a file outside the sandbox, a service, a remote host
  irreversible = 3,  // undoing it is expensive or impossible
};

constexpr int number(Tier tier) {
  return static_cast<int>(tier);
}

/// "READ_ONLY", "REVERSIBLE", "STATEFUL", "IRREVERSIBLE": the spelling in results and logs.
constexpr std::string_view name(Tier tier) {
  switch (tier) {
    case Tier::read_only: return "READ_ONLY";
    case Tier::reversible: return "REVERSIBLE";
    case Tier::stateful: return "STATEFUL";
    case Tier::irreversible: return "IRREVERSIBLE";
  }
  return "";
}

constexpr std::optional<Tier> find_tier(std::int64_t number) {
  if (number < 0 || number > 3) return std::nullopt;
  return static_cast<Tier>(number);
}

}  // namespace relay::authority
