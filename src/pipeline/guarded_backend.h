// GuardedBackend: what Relay serves. Toolsets hand it their tools, resources and prompts; every call of them goes
// through the Pipeline before the handler sees it.
//
//   Toolset files("files");
//   RELAY_CHECK(files.add_tool({.tool = {.name = "read", ...}, .tier = Tier::read_only,
//                               .policy_text = [](const json::object& args) { return path_of(args); },
//                               .handler = read_file}));
//   backend.add(files);
//
// A handler takes a `const Recorded&`: the arguments it works on are recorded.call().args, the very ones that were judged.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "mcp/backend.h"
#include "mcp/catalogue.h"
#include "pipeline/pipeline.h"
#include "protocol/schema.h"

namespace relay::pipeline {

using authority::Recorded;
using authority::Tier;

using ToolHandler = std::function<io::Task<protocol::ToolResult>(mcp::Context&, const Recorded&)>;
using ResourceHandler = std::function<io::Task<protocol::ReadResult>(mcp::Context&, const Recorded&, const mcp::Variables&)>;
using PromptHandler = std::function<io::Task<protocol::PromptResult>(mcp::Context&, const Recorded&)>;

struct GuardedTool {
  protocol::Tool tool;
  Tier tier = Tier::reversible;  // the least it is
  /// Raises the tier by what the arguments say (a command that deletes). May be empty.
  std::function<Tier(const json::object& arguments)> classify = {};
  /// Everything the executor will see. Empty means: the arguments as JSON.
  std::function<std::string(const json::object& arguments)> policy_text = {};
  std::size_t budget_bytes = limits::kResultBytes;
  ToolHandler handler = {};
};

struct GuardedResource {
  protocol::Resource resource = {};           // resource.uri, or
  protocol::ResourceTemplate resource_template = {};  // a template
  std::string name;                           // audited as "resource:<name>"
  ResourceHandler handler = {};
};

/// Resources that come and go, such as the files that runs leave. Asked for each resources/list.
using ResourceLister = std::function<io::Task<std::vector<protocol::Resource>>(const authority::Caller&)>;

/// Who can tell when resources change; see mcp::Backend for the words. Loop thread.
class ResourceWatcher {
 public:
  virtual ~ResourceWatcher() = default;
  [[nodiscard]] virtual bool handles(std::string_view uri) const = 0;
  [[nodiscard]] virtual std::string view_of(const authority::Caller& caller, std::string_view uri) const = 0;
  virtual io::Task<void> watch(const authority::Caller& caller, std::string uri) = 0;
  virtual void unwatch(const authority::Caller& caller, std::string_view uri) = 0;
  virtual void session_ended(const authority::Caller& caller) = 0;
};

struct GuardedPrompt {
  protocol::Prompt prompt;
  PromptHandler handler;
};

/// A source of tools. What it offers may change and may differ from caller to caller (upstream servers do).
class ToolProvider {
 public:
  struct Entry {
    std::string toolset;
    GuardedTool guarded;
    std::optional<protocol::Schema> input;   // missing: the owner of the tool checks
    std::optional<protocol::Schema> output;
  };
  virtual ~ToolProvider() = default;
  virtual void append_tools(const authority::Caller& caller, std::vector<protocol::Tool>& out) const = 0;
  [[nodiscard]] virtual std::shared_ptr<const Entry> find(const authority::Caller& caller, std::string_view name) const = 0;
};

/// A fixed set of tools, resources and prompts under one name.
class Toolset final : public ToolProvider {
 public:
  explicit Toolset(std::string name) : name_(std::move(name)) {}

  /// Fails when the name is taken or a schema does not compile.
  Result<void> add_tool(GuardedTool tool);
  void add_resource(GuardedResource resource) { resources_.push_back(std::move(resource)); }
  void add_lister(ResourceLister lister) { listers_.push_back(std::move(lister)); }
  void add_prompt(GuardedPrompt prompt) { prompts_.push_back(std::move(prompt)); }

  void append_tools(const authority::Caller& caller, std::vector<protocol::Tool>& out) const override;
  [[nodiscard]] std::shared_ptr<const Entry> find(const authority::Caller& caller, std::string_view name) const override;
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::vector<GuardedResource>& resources() const { return resources_; }
  [[nodiscard]] const std::vector<ResourceLister>& listers() const { return listers_; }
  [[nodiscard]] const std::vector<GuardedPrompt>& prompts() const { return prompts_; }

 private:
  std::string name_;
  std::vector<std::shared_ptr<const Entry>> tools_;
  std::map<std::string, std::shared_ptr<const Entry>, std::less<>> by_name_;
  std::vector<GuardedResource> resources_;
  std::vector<ResourceLister> listers_;
  std::vector<GuardedPrompt> prompts_;
};

class GuardedBackend final : public mcp::Backend {
 public:
  GuardedBackend(mcp::Identity identity, Pipeline& pipeline, RandomSource& random);

  /// Earlier ones win when two have the same name. The backend does not own them.
  void add(Toolset& toolset);
  void add(ToolProvider& provider) { providers_.push_back(&provider); }
  void add(ResourceWatcher& watcher) { watchers_.push_back(&watcher); }
  /// What tools/list or resources/list says of the set as a whole changed; clients are told.
  void report_tools_changed();
  void report_resources_changed();
  /// For resource watchers: whoever subscribed to it in this view is told.
  void report_resource_updated(std::string_view uri, std::string_view view = {});

  [[nodiscard]] const mcp::Identity& identity() const override { return identity_; }
  void set_observer(mcp::ChangeObserver* observer) override { observer_ = observer; }
  io::Task<protocol::Listing<protocol::Tool>> list_tools(const authority::Caller& caller) override;
  io::Task<protocol::Listing<protocol::Resource>> list_resources(const authority::Caller& caller) override;
  io::Task<protocol::Listing<protocol::ResourceTemplate>> list_templates(const authority::Caller& caller) override;
  io::Task<protocol::Listing<protocol::Prompt>> list_prompts(const authority::Caller& caller) override;
  [[nodiscard]] std::shared_ptr<const protocol::Tool> find_tool(const authority::Caller& caller, std::string_view name) override;
  io::Task<protocol::ToolResult> call_tool(mcp::Context& context, std::string name, json::object arguments) override;
  io::Task<protocol::ReadResult> read_resource(mcp::Context& context, std::string uri) override;
  io::Task<protocol::PromptResult> get_prompt(mcp::Context& context, std::string name, json::object arguments) override;
  [[nodiscard]] std::string view_of(const authority::Caller& caller, std::string_view uri) const override;
  io::Task<void> watch(const authority::Caller& caller, std::string uri) override;
  void unwatch(const authority::Caller& caller, std::string_view uri) override;
  void session_ended(const authority::Caller& caller) override;

  /// For calls that guest code makes: the same order, with the run as parent.
  io::Task<protocol::ToolResult> call_inner(mcp::Context& context, const Recorded& run, std::string name, json::object arguments);

 private:
  struct ResourceMatch {
    const GuardedResource* resource = nullptr;
    mcp::Variables variables;
  };
  [[nodiscard]] std::shared_ptr<const ToolProvider::Entry> find_entry(const authority::Caller& caller, std::string_view name) const;
  [[nodiscard]] ResourceMatch find_resource(std::string_view uri) const;
  [[nodiscard]] ResourceWatcher* find_watcher(std::string_view uri) const;
  authority::Call make_call(const authority::Caller& caller, std::string toolset, std::string tool, json::value args);
  io::Task<protocol::ToolResult> run_tool(mcp::Context& context, std::string name, json::object arguments, std::string parent);

  mcp::Identity identity_;
  Pipeline& pipeline_;
  RandomSource& random_;
  mcp::ChangeObserver* observer_ = nullptr;
  std::vector<ToolProvider*> providers_;
  std::vector<const Toolset*> toolsets_;
  std::vector<ResourceWatcher*> watchers_;
  Toolset own_;  // relay://results
};

}  // namespace relay::pipeline
