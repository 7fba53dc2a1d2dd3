#include "base/nearest_name.h"

#include <algorithm>
#include <utility>

#include "base/bytes.h"

namespace relay {
namespace {

constexpr std::size_t kComparedBytes = 64;  // of a name that a caller made up: the comparison is quadratic

std::string compared(std::string_view name) {
  return plain_spelling(name.substr(0, kComparedBytes));
}

// Contained names count as near, however much longer the other one is: "issues" means "list_issues".
std::size_t distance(const std::string& wanted, const std::string& name) {
  const std::size_t edits = edit_distance(wanted, name);
  if (wanted.size() >= 3 && name.find(wanted) != std::string::npos) return std::min<std::size_t>(edits, 1);
  return edits;
}

}  // namespace

std::string plain_spelling(std::string_view name) {
  std::string plain;
  for (const char c : to_lower_ascii(name))
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || static_cast<unsigned char>(c) >= 0x80) plain += c;
  return plain;
}

std::vector<std::string> nearest_names(std::string_view wanted, const std::vector<std::string>& names,
                                       std::size_t max_count) {
  const std::string plain = compared(wanted);
  if (plain.empty()) return {};
  std::vector<std::pair<std::size_t, std::string>> scored;
  for (const std::string& name : names) {
    const std::size_t away = distance(plain, compared(name));
    if (away <= std::max<std::size_t>(2, plain.size() / 3)) scored.emplace_back(away, name);
  }
  std::ranges::sort(scored);
  std::vector<std::string> best;
  for (auto& [away, name] : scored)
    if (best.size() < max_count) best.push_back(std::move(name));
  return best;
}

std::string nearest_name(std::string_view wanted, const std::vector<std::string>& names) {
  std::vector<std::string> best = nearest_names(wanted, names, 1);
  return best.empty() ? "" : std::move(best.front());
}

}  // namespace relay
