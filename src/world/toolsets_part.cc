#include "world/toolsets_part.h"

#include <fmt/format.h>

#include "world/toolset_table.h"

namespace relay::world {

Result<std::unique_ptr<ToolsetsPart>> ToolsetsPart::open(const config::Config& config,
                                                         const tools::ToolsetParts& parts,
                                                         pipeline::GuardedBackend& backend) {
  std::unique_ptr<ToolsetsPart> part(new ToolsetsPart());
  for (const std::string& name : config.toolsets) {
    const ToolsetEntry* entry = find_toolset(name);
    if (!entry) return fail(internal(fmt::format("there is no toolset {}", name)));
    RELAY_TRY(tools::Providers opened, entry->open(parts));
    for (auto& provider : opened) {
      backend.add(*provider);
      part->providers_.push_back(std::move(provider));
    }
    part->names_.push_back(name);
  }
  return part;
}

void ToolsetsPart::describe(tools::ServerInfo& info) const {
  info.add("toolsets", [this] { return json::value(json::array(names_.begin(), names_.end())); });
}

}  // namespace relay::world
