// Catalogue: a Backend made of handlers. A tool is its description and a coroutine.
//
//   Catalogue catalogue(identity);
//   RELAY_CHECK(catalogue.add_tool({.name = "echo", .input_schema = ...}, echo));
//
// Arguments are checked against the input schema before the handler runs, and the structured result against
// the output schema after it; what is wrong becomes a tool error that names the field. Everything may change
// while calls run: a running handler keeps what it needs.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "protocol/schema.h"
#include "protocol/uri_template.h"
#include "serving/backend.h"

namespace relay::mcp {

using CatalogueToolHandler =
    std::function<io::Task<protocol::ToolResult>(serving::Context&, authority::Arguments arguments)>;
using ResourceReader = std::function<io::Task<protocol::ReadResult>(serving::Context&, std::string uri,
                                                                    protocol::UriVariables variables)>;
using CataloguePromptHandler =
    std::function<io::Task<protocol::PromptResult>(serving::Context&, json::object arguments)>;
using Completer = std::function<std::vector<std::string>(const protocol::CompletionRequest&)>;

class Catalogue : public serving::Backend {
 public:
  explicit Catalogue(serving::Identity identity,
                     protocol::Caching caching = {std::chrono::minutes(5), protocol::CacheScope::shared});

  /// Fails when the name is taken or a schema does not compile.
  Result<void> add_tool(protocol::Tool tool, CatalogueToolHandler handler);
  bool remove_tool(std::string_view name);
  void add_resource(protocol::Resource resource, ResourceReader reader);
  void add_template(protocol::ResourceTemplate resource_template, ResourceReader reader);
  void add_prompt(protocol::Prompt prompt, CataloguePromptHandler handler);
  /// For one argument of a prompt, or one variable of a template.
  void add_completer(std::string ref, std::string argument, Completer completer);
  /// Tells subscribers, through the sink that the server set.
  void report_updated(std::string_view uri);
  void report_tools_changed();
  void report_prompts_changed();

  [[nodiscard]] const serving::Identity& identity() const override { return identity_; }
  void set_event_sink(protocol::EventSink sink) override { tell_ = std::move(sink); }
  io::Task<protocol::Listing<protocol::Tool>> list_tools(const authority::Caller& caller) override;
  io::Task<protocol::Listing<protocol::Resource>> list_resources(const authority::Caller& caller) override;
  io::Task<protocol::Listing<protocol::ResourceTemplate>> list_templates(
      const authority::Caller& caller) override;
  io::Task<protocol::Listing<protocol::Prompt>> list_prompts(const authority::Caller& caller) override;
  [[nodiscard]] std::shared_ptr<const serving::FoundTool> find_tool(const authority::Caller& caller,
                                                                    std::string_view name) override;
  io::Task<protocol::ToolResult> call_tool(serving::Context& context, std::string name,
                                           std::shared_ptr<const serving::FoundTool> found,
                                           authority::Arguments arguments) override;
  io::Task<protocol::ReadResult> read_resource(serving::Context& context, std::string uri) override;
  io::Task<protocol::PromptResult> get_prompt(serving::Context& context, std::string name,
                                              authority::Arguments arguments) override;
  io::Task<protocol::Completion> complete(serving::Context& context,
                                          protocol::CompletionRequest request) override;
  [[nodiscard]] protocol::Caching caching_of(std::string_view uri) const override;

 private:
  struct ToolEntry final : serving::FoundTool {
    ToolEntry(protocol::Tool of, CatalogueToolHandler by, protocol::Schema in,
              std::optional<protocol::Schema> out)
        : description(std::move(of)), handler(std::move(by)), input(std::move(in)), output(std::move(out)) {}
    [[nodiscard]] const protocol::Tool& tool() const override { return description; }
    protocol::Tool description;
    CatalogueToolHandler handler;
    protocol::Schema input;
    std::optional<protocol::Schema> output;
  };
  struct ResourceEntry {
    protocol::Resource resource;
    ResourceReader reader;
  };
  struct TemplateEntry {
    protocol::ResourceTemplate resource_template;
    ResourceReader reader;
  };
  struct PromptEntry {
    protocol::Prompt prompt;
    CataloguePromptHandler handler;
  };
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };

  serving::Identity identity_;
  protocol::Caching caching_;
  protocol::EventSink tell_;
  std::vector<std::shared_ptr<const ToolEntry>> tools_;  // in the order of adding: the order of the list
  std::unordered_map<std::string, std::shared_ptr<const ToolEntry>, TextHash, std::equal_to<>> tool_by_name_;
  std::shared_ptr<const std::vector<protocol::Tool>> tool_list_;  // rebuilt after a change
  std::vector<ResourceEntry> resources_;
  std::vector<TemplateEntry> templates_;
  std::vector<PromptEntry> prompts_;
  std::map<std::pair<std::string, std::string>, Completer> completers_;
};

}  // namespace relay::mcp
