// StdioLines: cuts what a server writes into lines. A line over the limit is skipped to its end, and what is
// known of it is kept: the connection survives one answer that is too large. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"

namespace relay::peer {

struct StdioLine {
  std::string text;       // of a line over the limit: its beginning
  std::string tail = {};  // of a line over the limit: its end
  std::size_t bytes = 0;
  bool over_limit = false;
};

class StdioLines {
 public:
  explicit StdioLines(std::size_t max_line_bytes = limits::kLineBytes) : max_line_bytes_(max_line_bytes) {}

  /// The lines that are whole now, without their breaks. The same for any split of the input.
  std::vector<StdioLine> feed(std::string_view bytes);

 private:
  void add(std::string_view piece);
  StdioLine take();

  std::size_t max_line_bytes_;
  StdioLine line_;
};

}  // namespace relay::peer
