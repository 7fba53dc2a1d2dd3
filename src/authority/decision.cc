#include "authority/decision.h"

#include <fmt/format.h>

namespace relay::authority {
namespace {

constexpr std::string_view kSeparator = "; ";

// Details quote patterns and names from the configuration; a separator inside them must not look like one of
// ours.
void append_detail(std::string& out, std::string_view detail) {
  for (const char c : detail) out += c == ';' || c == '\n' || c == '\r' ? ',' : c;
}

char mark_of(const Decision& decision, std::size_t index) {
  if (index == decision.deciding) return '*';
  return decision.ladder[index].matched ? '+' : '-';
}

Rung parse_rung(std::string_view text, bool& decides) {
  Rung rung;
  const std::size_t mark = text.find_first_of("*+-");
  rung.name = std::string(text.substr(0, mark));
  if (mark == std::string_view::npos) return rung;
  decides = text[mark] == '*';
  rung.matched = text[mark] != '-';
  if (mark + 2 < text.size()) rung.detail = std::string(text.substr(mark + 2));
  return rung;
}

}  // namespace

std::string_view name(Verdict verdict) {
  switch (verdict) {
    case Verdict::allow: return "allow";
    case Verdict::deny: return "deny";
    case Verdict::confirm: return "confirm";
  }
  return "";
}

std::string describe(const Decision& decision) {
  std::string out =
      fmt::format("{} at tier {} ({})", name(decision.verdict), number(decision.tier), name(decision.tier));
  if (!decision.reason.empty()) out += fmt::format(": {}", decision.reason);
  out += '\n';
  for (std::size_t i = 0; i < decision.ladder.size(); ++i) {
    const Rung& rung = decision.ladder[i];
    const std::string_view arrow = i == decision.deciding ? "->" : "  ";
    out += fmt::format("{} {}. {:<13} {}", arrow, i + 1, rung.name, rung.matched ? "matched" : "no match");
    if (!rung.detail.empty()) out += fmt::format("  {}", rung.detail);
    out += '\n';
  }
  return out;
}

std::string compact_ladder(const Decision& decision) {
  std::string out;
  out.reserve(96);
  for (std::size_t i = 0; i < decision.ladder.size(); ++i) {
    if (i > 0) out += kSeparator;
    out += decision.ladder[i].name;
    out += mark_of(decision, i);
    if (decision.ladder[i].detail.empty()) continue;
    out += ' ';
    append_detail(out, decision.ladder[i].detail);
  }
  return out;
}

std::vector<Rung> parse_compact_ladder(std::string_view text, std::size_t& deciding) {
  std::vector<Rung> rungs;
  deciding = 0;
  while (!text.empty()) {
    const std::size_t end = text.find(kSeparator);
    bool decides = false;
    rungs.push_back(parse_rung(text.substr(0, end), decides));
    if (decides) deciding = rungs.size() - 1;
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + kSeparator.size());
  }
  return rungs;
}

}  // namespace relay::authority
