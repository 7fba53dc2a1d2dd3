#include "world/toolsets_part.h"

#include <algorithm>

#include <fmt/format.h>

#include "world/toolset_table.h"

namespace relay::world {

ToolsetsPart::ToolsetsPart(const config::Config& config, tools::ToolsetParts parts,
                           pipeline::GuardedBackend& backend, Log& log)
    : parts_(std::move(parts)),
      backend_(backend),
      log_(log),
      mounts_(config.mounts),
      limits_(config.policy.run.limits) {}

Result<std::unique_ptr<ToolsetsPart>> ToolsetsPart::open(const config::Config& config,
                                                         const tools::ToolsetParts& parts,
                                                         pipeline::GuardedBackend& backend, Log& log) {
  std::unique_ptr<ToolsetsPart> part(new ToolsetsPart(config, parts, backend, log));
  for (const std::string& name : config.toolsets) {
    const ToolsetEntry* entry = find_toolset(name);
    if (!entry) return fail(internal(fmt::format("there is no toolset {}", name)));
    RELAY_TRY(tools::Providers opened, entry->open(parts));
    part->toolsets_.push_back(std::make_unique<LiveToolset>(name, std::move(opened)));
    backend.add(*part->toolsets_.back());
  }
  return part;
}

std::vector<std::string> ToolsetsPart::usable(const std::vector<std::string>& names) const {
  std::vector<std::string> found;
  for (const auto& toolset : toolsets_)
    if (std::ranges::find(names, toolset->name()) != names.end()) found.push_back(toolset->name());
  return found;
}

void ToolsetsPart::adopt(const config::Config& now) {
  const bool tells_otherwise = now.mounts != mounts_ || now.policy.run.limits != limits_;
  mounts_ = now.mounts;
  limits_ = now.policy.run.limits;
  for (const auto& toolset : toolsets_) {
    if (!now.has_toolset(toolset->name()))
      toolset->switch_off();
    else if (tells_otherwise || !toolset->is_offered())
      describe_again(*toolset);
  }
  // A result that is cut names the tool that reads the rest, which may be gone.
  pipeline::ResultsStore& results = parts_.pipeline.results();
  if (!backend_.find_tool({}, results.read_tool())) results.set_read_tool({});
}

void ToolsetsPart::describe_again(LiveToolset& toolset) {
  auto opened = find_toolset(toolset.name())->open(parts_);
  if (opened) return toolset.set_offer(*std::move(opened));
  log_.error("a toolset keeps its old description",
             {{"toolset", toolset.name()}, {"reason", opened.error().message}});
}

void ToolsetsPart::describe(tools::ServerInfo& info) const {
  info.add("toolsets", [this] {
    json::array names;
    for (const auto& toolset : toolsets_)
      if (toolset->is_offered()) names.emplace_back(toolset->name());
    return json::value(std::move(names));
  });
}

}  // namespace relay::world
