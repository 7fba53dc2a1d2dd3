// The pattern table: a second opinion on the text itself, without understanding it. It sees commands in
// places that the parser does not read, such as the code of other languages, PowerShell and cmd.exe. The
// stricter opinion counts.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "shell/tier_table.h"

namespace relay::shell {

struct TextPattern {
  std::string_view name;  // "rm-flags": tests name a pattern by it
  authority::Tier tier;
  std::string_view expression;  // RE2, letters of either case, not behind a word character
  std::string_view why;
};

std::span<const TextPattern> text_patterns();

/// The strictest pattern that the text matches; tier 1 and no reason when there is none.
TierFinding find_pattern(std::string_view text);

}  // namespace relay::shell
