#include <fmt/format.h>

#include "pipeline/guarded_backend.h"

namespace relay::pipeline {

Result<void> Toolset::add_tool(GuardedTool tool) {
  if (by_name_.contains(tool.tool.name)) return fail(invalid(fmt::format("the tool {} is there twice", tool.tool.name)));
  auto entry = std::make_shared<Entry>();
  RELAY_TRY(entry->input, protocol::Schema::compile(tool.tool.input_schema.value()));
  if (tool.tool.output_schema) {
    RELAY_TRY(entry->output, protocol::Schema::compile(tool.tool.output_schema->value()));
  }
  entry->toolset = name_;
  entry->guarded = std::move(tool);
  by_name_.emplace(entry->guarded.tool.name, entry);
  tools_.push_back(std::move(entry));
  return {};
}

void Toolset::append_tools(const authority::Caller&, std::vector<protocol::Tool>& out) const {
  for (const auto& entry : tools_) out.push_back(entry->guarded.tool);
}

std::shared_ptr<const ToolProvider::Entry> Toolset::find(const authority::Caller&, std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

}  // namespace relay::pipeline
