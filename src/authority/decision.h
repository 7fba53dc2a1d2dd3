// Decision: what policy said about a call, and why. The ladder holds every rung that was tried, in order; the
// deciding one is marked. The same value is printed by `relay explain` and kept, in its compact form, in the
// audit line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "authority/tier.h"

namespace relay::authority {

enum class Verdict : std::uint8_t { allow, deny, confirm };

std::string_view name(Verdict verdict);

struct Rung {
  std::string name;  // "deny list", "rules", "mode", "confirmation"
  bool matched = false;
  std::string detail;  // what matched, or why it did not apply

  bool operator==(const Rung&) const = default;
};

struct Decision {
  Verdict verdict = Verdict::deny;
  Tier tier = Tier::irreversible;  // after rules have raised it
  std::vector<Rung> ladder;
  std::size_t deciding = 0;  // index into ladder
  std::string reason;        // one clause for people, without a full stop

  bool operator==(const Decision&) const = default;
};

/// Several lines for a terminal; an arrow marks the rung that decided.
std::string describe(const Decision& decision);

/// One line for the audit record: "deny list -; rules -; mode* open admits tier 1".
/// A star marks the deciding rung, a plus a rung that matched, a minus one that did not.
std::string compact_ladder(const Decision& decision);

/// The way back from the compact form, for `relay explain`. Tier and verdict come from the record.
std::vector<Rung> parse_compact_ladder(std::string_view text, std::size_t& deciding);

}  // namespace relay::authority
