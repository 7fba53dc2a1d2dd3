#include <fmt/format.h>

#include "pipeline/provider.h"

namespace relay::pipeline {

Result<void> Toolset::add_tool(GuardedTool tool) {
  if (by_name_.contains(tool.tool.name))
    return fail(invalid(fmt::format("the tool {} is there twice", tool.tool.name)));
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

std::shared_ptr<const Provider::Entry> Toolset::find(const authority::Caller&, std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

void Toolset::append_resources(const authority::Caller&, std::vector<protocol::Resource>& out) const {
  for (const GuardedResource& item : resources_)
    if (!item.resource.uri.empty()) out.push_back(item.resource);
}

void Toolset::append_templates(const authority::Caller&, std::vector<protocol::ResourceTemplate>& out) const {
  for (const GuardedResource& item : resources_)
    if (item.resource.uri.empty()) out.push_back(item.resource_template);
}

std::optional<FoundResource> Toolset::find_resource(const authority::Caller&, std::string_view uri) const {
  for (const GuardedResource& item : resources_) {
    std::optional<protocol::UriVariables> variables;
    if (item.resource.uri.empty())
      variables = protocol::find_variables(item.resource_template.uri_template, uri);
    if (!item.resource.uri.empty() && item.resource.uri == uri) variables.emplace();
    if (!variables) continue;
    auto read = [handler = item.handler, found = *std::move(variables)](serving::Context& context,
                                                                        const Recorded& recorded) {
      return handler(context, recorded, found);
    };
    FoundResource resource{item.name, {}, std::move(read)};
    if (item.fields) resource.fields = item.fields(uri);
    return resource;
  }
  return std::nullopt;
}

void Toolset::append_prompts(const authority::Caller&, std::vector<protocol::Prompt>& out) const {
  for (const auto& item : prompts_) out.push_back(item->prompt);
}

std::shared_ptr<const GuardedPrompt> Toolset::find_prompt(const authority::Caller&,
                                                          std::string_view name) const {
  for (const auto& item : prompts_)
    if (item->prompt.name == name) return item;
  return nullptr;
}

}  // namespace relay::pipeline
