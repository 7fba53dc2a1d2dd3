// The revisions of MCP, and the two eras they belong to.
//
// Legacy revisions begin with `initialize` and keep a session; the modern one carries everything in each
// request. The body of a message decides its era, never a header alone.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace relay::protocol {

enum class Revision : std::uint8_t { v2024_11_05, v2025_03_26, v2025_06_18, v2025_11_25, v2026_07_28 };
enum class Era : std::uint8_t { legacy, modern };

inline constexpr Revision kLatestLegacy = Revision::v2025_11_25;
inline constexpr Revision kLatestModern = Revision::v2026_07_28;
/// What a legacy HTTP request without MCP-Protocol-Version speaks.
inline constexpr Revision kAssumedRevision = Revision::v2025_03_26;
inline constexpr std::array kAllRevisions{Revision::v2024_11_05, Revision::v2025_03_26, Revision::v2025_06_18,
                                          Revision::v2025_11_25, Revision::v2026_07_28};

std::string_view name_of(Revision revision);
std::optional<Revision> find_revision(std::string_view name);
constexpr Era era_of(Revision revision) {
  return revision >= Revision::v2026_07_28 ? Era::modern : Era::legacy;
}
/// True for names that claim the modern era, known to us or not: dates compare as text.
bool names_modern_era(std::string_view name);
/// What to answer `initialize` with: the wish if it is a legacy revision we know, our newest legacy one
/// otherwise.
Revision negotiate(std::string_view requested);

}  // namespace relay::protocol
