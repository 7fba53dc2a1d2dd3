#include "mcp/catalogue.h"

#include <algorithm>

#include <fmt/format.h>

namespace relay::mcp {
namespace {

std::string names_of(const std::vector<protocol::SchemaProblem>& problems) {
  return "Invalid arguments: " + protocol::describe(problems);
}

template <class Entry, class Item>
std::shared_ptr<const std::vector<Item>> collect(const std::vector<Entry>& entries, Item Entry::* member) {
  auto items = std::make_shared<std::vector<Item>>();
  for (const Entry& entry : entries) items->push_back(entry.*member);
  return items;
}

}  // namespace

Catalogue::Catalogue(serving::Identity identity, protocol::Caching caching)
    : identity_(std::move(identity)), caching_(caching) {}

Result<void> Catalogue::add_tool(protocol::Tool tool, CatalogueToolHandler handler) {
  if (tool_by_name_.contains(tool.name))
    return fail(invalid(fmt::format("there is a tool '{}' already", tool.name)));
  RELAY_TRY(protocol::Schema input, protocol::Schema::compile(tool.input_schema.value()));
  std::optional<protocol::Schema> output;
  if (tool.output_schema) {
    RELAY_TRY(output, protocol::Schema::compile(tool.output_schema->value()));
  }
  std::string name = tool.name;
  auto entry = std::make_shared<const ToolEntry>(std::move(tool), std::move(handler), std::move(input),
                                                 std::move(output));
  tools_.push_back(entry);
  tool_by_name_.emplace(std::move(name), std::move(entry));
  report_tools_changed();
  return {};
}

bool Catalogue::remove_tool(std::string_view name) {
  const auto found = tool_by_name_.find(name);
  if (found == tool_by_name_.end()) return false;
  std::erase(tools_, found->second);
  tool_by_name_.erase(found);
  report_tools_changed();
  return true;
}

void Catalogue::add_resource(protocol::Resource resource, ResourceReader reader) {
  resources_.push_back({std::move(resource), std::move(reader)});
  if (tell_) tell_(protocol::ListChanged{protocol::ListKind::resources});
}
void Catalogue::add_template(protocol::ResourceTemplate resource_template, ResourceReader reader) {
  templates_.push_back({std::move(resource_template), std::move(reader)});
  if (tell_) tell_(protocol::ListChanged{protocol::ListKind::resources});
}
void Catalogue::add_prompt(protocol::Prompt prompt, CataloguePromptHandler handler) {
  prompts_.push_back({std::move(prompt), std::move(handler)});
  report_prompts_changed();
}
void Catalogue::add_completer(std::string ref, std::string argument, Completer completer) {
  completers_.insert_or_assign({std::move(ref), std::move(argument)}, std::move(completer));
}

void Catalogue::report_updated(std::string_view uri) {
  if (tell_) tell_(protocol::ResourceUpdated{std::string(uri)});
}
void Catalogue::report_tools_changed() {
  tool_list_.reset();
  if (tell_) tell_(protocol::ListChanged{protocol::ListKind::tools});
}
void Catalogue::report_prompts_changed() {
  if (tell_) tell_(protocol::ListChanged{protocol::ListKind::prompts});
}

io::Task<protocol::Listing<protocol::Tool>> Catalogue::list_tools(const authority::Caller&) {
  if (!tool_list_) {
    auto list = std::make_shared<std::vector<protocol::Tool>>();
    for (const auto& entry : tools_) list->push_back(entry->description);
    tool_list_ = std::move(list);
  }
  co_return protocol::Listing<protocol::Tool>{tool_list_, caching_};
}
io::Task<protocol::Listing<protocol::Resource>> Catalogue::list_resources(const authority::Caller&) {
  co_return protocol::Listing<protocol::Resource>{collect(resources_, &ResourceEntry::resource), caching_};
}
io::Task<protocol::Listing<protocol::ResourceTemplate>> Catalogue::list_templates(const authority::Caller&) {
  co_return protocol::Listing<protocol::ResourceTemplate>{
      collect(templates_, &TemplateEntry::resource_template), caching_};
}
io::Task<protocol::Listing<protocol::Prompt>> Catalogue::list_prompts(const authority::Caller&) {
  co_return protocol::Listing<protocol::Prompt>{collect(prompts_, &PromptEntry::prompt), caching_};
}

std::shared_ptr<const serving::FoundTool> Catalogue::find_tool(const authority::Caller&,
                                                               std::string_view name) {
  const auto found = tool_by_name_.find(name);
  return found == tool_by_name_.end() ? nullptr : found->second;
}

io::Task<protocol::ToolResult> Catalogue::call_tool(serving::Context& context, std::string name,
                                                    std::shared_ptr<const serving::FoundTool> found,
                                                    authority::Arguments arguments) {
  if (!found) found = find_tool(context.caller(), name);
  if (!found) co_return fail(serving::unknown_tool(name));
  // The handler may outlive its entry in the catalogue.
  const auto entry = std::static_pointer_cast<const ToolEntry>(std::move(found));
  if (const auto problems = entry->input.check(arguments.value()); !problems.empty())
    co_return protocol::ToolResult::error(names_of(problems));
  RELAY_CO_TRY(protocol::ToolResult result, co_await entry->handler(context, std::move(arguments)));
  if (!entry->output || result.is_error || result.raw) co_return result;
  if (!result.structured)
    co_return fail(internal(fmt::format("the tool '{}' gave no structured result", name)));
  if (const auto problems = entry->output->check(*result.structured); !problems.empty())
    co_return fail(internal(
        fmt::format("the result of '{}' does not fit its schema: {}", name, protocol::describe(problems))));
  co_return result;
}

io::Task<protocol::ReadResult> Catalogue::read_resource(serving::Context& context, std::string uri) {
  for (const ResourceEntry& entry : resources_) {
    if (entry.resource.uri != uri) continue;
    const ResourceReader reader = entry.reader;
    co_return co_await reader(context, std::move(uri), {});
  }
  for (const TemplateEntry& entry : templates_) {
    auto variables = protocol::find_variables(entry.resource_template.uri_template, uri);
    if (!variables) continue;
    const ResourceReader reader = entry.reader;
    co_return co_await reader(context, std::move(uri), *std::move(variables));
  }
  co_return fail(not_found(fmt::format("Resource not found: {}", uri)));
}

io::Task<protocol::PromptResult> Catalogue::get_prompt(serving::Context& context, std::string name,
                                                       authority::Arguments arguments) {
  const auto found =
      std::ranges::find_if(prompts_, [&](const PromptEntry& entry) { return entry.prompt.name == name; });
  if (found == prompts_.end()) co_return fail(invalid(fmt::format("Unknown prompt: {}", name)));
  for (const protocol::PromptArgument& argument : found->prompt.arguments) {
    const json::value* given = json::find(arguments.object(), argument.name);
    if (!given && argument.required)
      co_return fail(invalid(fmt::format("the prompt needs the argument '{}'", argument.name)));
    if (given && !given->is_string())
      co_return fail(invalid(fmt::format("the argument '{}' must be a string", argument.name)));
  }
  const CataloguePromptHandler handler = found->handler;
  co_return co_await handler(context, arguments.object());
}

io::Task<protocol::Completion> Catalogue::complete(serving::Context&, protocol::CompletionRequest request) {
  const auto found = completers_.find({request.ref, request.argument});
  protocol::Completion completion;
  if (found == completers_.end()) co_return completion;
  completion.values = found->second(request);
  completion.total = static_cast<std::int64_t>(completion.values.size());
  co_return completion;
}

protocol::Caching Catalogue::caching_of(std::string_view) const {
  return caching_;
}

}  // namespace relay::mcp
