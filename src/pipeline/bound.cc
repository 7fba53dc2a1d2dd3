#include "pipeline/bound.h"

#include <fmt/format.h>

#include "base/bytes.h"

namespace relay::pipeline {
namespace {

std::string marker(std::size_t total, std::size_t shown, std::string_view where) {
  std::string out = fmt::format("\n\n[TRUNCATED - {} bytes total, {} shown", total, shown);
  if (where.empty()) return out + "]";
  out += "; ";
  const std::size_t hole = where.find("{M}");
  out += where.substr(0, hole);
  if (hole != std::string_view::npos) out += fmt::format("{}{}", shown, where.substr(hole + 3));
  return out + "]";
}

}  // namespace

Bounded bound_text(std::string_view text, std::size_t budget_bytes, std::string_view where) {
  if (text.size() <= budget_bytes) return {std::string(text), text.size(), text.size()};
  // With the largest number in every place, the marker is as long as it can get.
  const std::size_t reserved = marker(text.size(), text.size(), where).size();
  const std::size_t room = budget_bytes > reserved ? budget_bytes - reserved : budget_bytes;
  const std::string_view shown = utf8_prefix(text, room);
  Bounded result{std::string(shown), text.size(), shown.size()};
  if (budget_bytes > reserved) result.text += marker(text.size(), shown.size(), where);
  return result;
}

}  // namespace relay::pipeline
