// TierTable: how far one program with its arguments reaches. The table knows programs, flags and targets;
// what it does not know is tier 1, never less.
#pragma once

#include <string>
#include <string_view>

#include "authority/tier.h"
#include "shell/command_line.h"

namespace relay::shell {

struct TierFinding {
  authority::Tier tier = authority::Tier::reversible;
  std::string why;  // a clause: "deletes recursively or without asking"; empty when nothing is special

  bool operator==(const TierFinding&) const = default;
};

/// Precondition: words is not empty.
TierFinding find_tier_of(const CommandWords& words);
/// Of a pattern in the place of a program's name ("/bin/r?"): the strictest program of the table that it
/// matches.
TierFinding find_tier_of_pattern(std::string_view pattern, const CommandWords& words);
/// Of writing to a file.
TierFinding find_tier_of_write(std::string_view path);

}  // namespace relay::shell
