// Reading a line back: strict JSON, and its canonical form, which is that of Python:
// json.dumps(json.loads(line), sort_keys=True, separators=(",", ":"), ensure_ascii=False).
//
// Members are sorted by key at every level, blanks go, integers of any size keep their digits, other numbers
// are spelled as repr() spells them, strings have the fewest escapes. What this accepts and how it spells it
// decides whether a log verifies. A general parser would turn large integers into doubles, and it would
// accept what Python and this refuse or read differently: a member that occurs twice, half of a surrogate
// pair, a number beyond the range of a double.
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
