// Bounding: no result is larger for the model than its budget.
//
// Clients differ in what they hand to their model: some the text, some only the structured content. So both
// forms keep to the budget, each for itself. What was cut off is kept by ResultsStore, and the result says
// how to get it: the text in its last line, the structure in two members of its own:
//
//   "truncated": true,
//   "rest": "call read with path relay://results/<id>?offset=65000 (stdout: 65000 of 138890 bytes shown)"
//
// bound_text and bound_structure are pure. bound() keeps what they cut off. Loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "protocol/listing.h"
#include "protocol/tool.h"

namespace relay::pipeline {

class ResultsStore;

/// A budget that nothing exceeds: the operator of a pure gateway wants results as they come.
inline constexpr std::size_t kNoBudget = std::numeric_limits<std::size_t>::max();

struct Bounded {
  std::string text;             // at most the budget, valid UTF-8 when the input is
  std::size_t total_bytes = 0;  // of the input
  std::size_t shown_bytes = 0;  // of the input that is in text; equal to total when nothing was cut
  [[nodiscard]] bool cut() const { return shown_bytes < total_bytes; }
};

/// `where` says how to get the rest and is part of the budget:
///   …text…\n\n[TRUNCATED - N bytes total, M shown; <where>]
/// "{M}" in it becomes the number of bytes shown, so that it can name the next offset. A budget too small for
/// the sentence leaves only text.
Bounded bound_text(std::string_view text, std::size_t budget_bytes, std::string_view where);

/// The longest beginning of a text that takes at most that many bytes as a JSON string, without the quotes.
std::string_view json_prefix(std::string_view text, std::size_t max_bytes);

/// One member of a structure that was cut, and the whole of it.
struct CutMember {
  enum class Unit : std::uint8_t { bytes, items, members };
  std::string name;   // empty: the structure itself has too many members
  std::string whole;  // the string itself, or JSON with one item or member in each line
  Unit unit = Unit::bytes;
  std::size_t shown = 0;  // whole ones; an item that was cut inside does not count
  std::size_t total = 0;

  /// "?offset=N" or "?line=N": where the part that is not shown begins in `whole`.
  [[nodiscard]] std::string query() const;
};

/// Cuts a structure until its JSON takes at most that many bytes. Small members stay whole, and the large
/// ones share what is left: strings and arrays keep their beginning, objects are cut in their members. The
/// types of all members stay, so most output schemas still fit.
std::vector<CutMember> bound_structure(json::object& structure, std::size_t budget_bytes);

/// Whom a reply is cut for, and what it has to keep to.
struct Bounds {
  std::size_t budget_bytes = kNoBudget;
  std::string_view principal;
  ResultsStore& results;
  const protocol::JsonText* output_schema = nullptr;  // of the tool; what is left of the structure fits it
};

/// Cuts the reply to its budget; what was cut off is kept for the principal.
void bound(protocol::ToolResult& reply, const Bounds& bounds);
void bound(protocol::ReadResult& reply, const Bounds& bounds);
void bound(protocol::PromptResult& reply, const Bounds& bounds);

}  // namespace relay::pipeline
