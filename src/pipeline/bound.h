// Bounding: no result is larger for the model than its budget. Pure; what was cut off is kept by
// ResultsStore.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace relay::pipeline {

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

}  // namespace relay::pipeline
