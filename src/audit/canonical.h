// Reading a line back: strict JSON, and its canonical form without losing a byte of any value.
//
// Numbers and strings keep their spelling, members are sorted by key at every level, blanks go. What this
// accepts and what it rearranges decides whether a log verifies, so it does not go through a general parser
// that would respell numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace relay::audit {

/// The parts of a line that the chain is made of, and its canonical text without the `chain` member.
struct ParsedLine {
  std::string canonical;
  std::optional<std::uint64_t> seq;
  std::string prev;   // empty when missing
  std::string chain;  // empty when missing
  std::string action;
  std::string args;  // canonical JSON, empty when missing

  [[nodiscard]] bool chained() const { return seq && !prev.empty() && !chain.empty(); }
};

/// One JSON object, valid UTF-8, no member twice. The error says what is wrong with it.
Result<ParsedLine> parse_line(std::string_view line);

/// Any JSON value in its canonical form.
Result<std::string> canonical_json(std::string_view text);

}  // namespace relay::audit
