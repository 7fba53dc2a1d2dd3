#include "world/toolset_table.h"

#include <algorithm>
#include <array>

namespace relay::world {
namespace {

constexpr std::array kTable{
    ToolsetEntry{"code", tools::open_code_toolset},
    ToolsetEntry{"files", tools::open_files_toolset},
    ToolsetEntry{"admin", tools::open_admin_toolset},
};

}  // namespace

std::span<const ToolsetEntry> toolset_table() {
  return kTable;
}

const ToolsetEntry* find_toolset(std::string_view name) {
  const auto found = std::ranges::find(kTable, name, &ToolsetEntry::name);
  return found == kTable.end() ? nullptr : &*found;
}

}  // namespace relay::world
