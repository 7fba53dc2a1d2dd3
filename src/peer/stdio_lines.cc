#include "peer/stdio_lines.h"

#include <utility>

namespace relay::peer {
namespace {

constexpr std::size_t kKeptBytes =
    256;  // of either end of a line over the limit: enough to see which request it answers

void keep_end(std::string& tail, std::string_view piece) {
  tail += piece.substr(piece.size() > kKeptBytes ? piece.size() - kKeptBytes : 0);
  if (tail.size() > kKeptBytes) tail.erase(0, tail.size() - kKeptBytes);
}

}  // namespace

std::vector<StdioLine> StdioLines::feed(std::string_view bytes) {
  std::vector<StdioLine> lines;
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    add(bytes.substr(0, end));
    if (end == std::string_view::npos) break;
    lines.push_back(take());
    bytes.remove_prefix(end + 1);
  }
  return lines;
}

void StdioLines::add(std::string_view piece) {
  line_.bytes += piece.size();
  if (!line_.over_limit && line_.bytes > max_line_bytes_) {
    line_.over_limit = true;
    keep_end(line_.tail, line_.text);
    line_.text =
        line_.text.empty() ? std::string(piece.substr(0, kKeptBytes)) : line_.text.substr(0, kKeptBytes);
  }
  if (line_.over_limit)
    keep_end(line_.tail, piece);
  else
    line_.text += piece;
}

StdioLine StdioLines::take() {
  return std::exchange(line_, StdioLine{});
}

}  // namespace relay::peer
