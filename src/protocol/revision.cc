#include "protocol/revision.h"

namespace relay::protocol {

std::string_view name_of(Revision revision) {
  switch (revision) {
    case Revision::v2024_11_05: return "2024-11-05";
    case Revision::v2025_03_26: return "2025-03-26";
    case Revision::v2025_06_18: return "2025-06-18";
    case Revision::v2025_11_25: return "2025-11-25";
    case Revision::v2026_07_28: return "2026-07-28";
  }
  return "";
}

std::optional<Revision> find_revision(std::string_view name) {
  for (const Revision revision : kAllRevisions)
    if (name_of(revision) == name) return revision;
  return std::nullopt;
}

bool names_modern_era(std::string_view name) {
  return name >= name_of(Revision::v2026_07_28);
}

Revision negotiate(std::string_view requested) {
  const auto known = find_revision(requested);
  return known && era_of(*known) == Era::legacy ? *known : kLatestLegacy;
}

}  // namespace relay::protocol
