// The toolsets that a configuration can name, in one table.
#pragma once

#include <span>
#include <string_view>

#include "tools/toolsets.h"

namespace relay::world {

struct ToolsetEntry {
  std::string_view name;  // as `toolsets` of the configuration spells it
  tools::OpenToolset open;
};

/// In the order in which people are told about them.
std::span<const ToolsetEntry> toolset_table();
/// Null for a name that is not in the table; the schema of the configuration allows no such name.
const ToolsetEntry* find_toolset(std::string_view name);

}  // namespace relay::world
