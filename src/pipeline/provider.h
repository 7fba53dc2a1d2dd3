// Provider: a source of tools, resources and prompts. What it offers may change while calls run, and may
// differ from caller to caller: Toolset is the fixed one, the gateway's upstream servers are the other.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "authority/call.h"
#include "authority/recorded.h"
#include "protocol/schema.h"
#include "protocol/uri_template.h"
#include "serving/backend.h"

namespace relay::pipeline {

using authority::Recorded;
using authority::Tier;

using ToolHandler = std::function<io::Task<protocol::ToolResult>(serving::Context&, const Recorded&)>;
using ResourceHandler = std::function<io::Task<protocol::ReadResult>(serving::Context&, const Recorded&,
                                                                     const protocol::UriVariables&)>;
using PromptHandler = std::function<io::Task<protocol::PromptResult>(serving::Context&, const Recorded&)>;

struct GuardedTool {
  protocol::Tool tool;
  Tier tier = Tier::reversible;  // the least it is
  /// Raises the tier by what the arguments say (a command that deletes). May be empty.
  std::function<Tier(const json::object& arguments)> classify = {};
  /// Everything the executor will see. Empty means: the arguments as JSON.
  std::function<std::string(const json::object& arguments)> policy_text = {};
  /// The same by name, for policy patterns; see authority/call.h. Empty means: each argument by its name.
  std::function<std::vector<authority::CallField>(const json::object& arguments)> fields = {};
  std::size_t budget_bytes = limits::kResultBytes;
  ToolHandler handler = {};
};

struct GuardedResource {
  protocol::Resource resource = {};                   // resource.uri, or
  protocol::ResourceTemplate resource_template = {};  // a template
  std::string name;                                   // audited as "resource:<name>"
  ResourceHandler handler = {};
  /// What policy patterns see besides the URI, such as the path that it stands for. May be empty.
  std::function<std::vector<authority::CallField>(std::string_view uri)> fields = {};
};

struct GuardedPrompt {
  protocol::Prompt prompt;
  PromptHandler handler;
  std::string upstream = {};  // "server/prompt", when it is somebody else's
};

/// A resource that was found for a URI. The handler works on recorded.call().args, which has the uri.
struct FoundResource {
  std::string name;      // audited as "resource:<name>"
  std::string upstream;  // the server it belongs to, if it is not ours
  std::function<io::Task<protocol::ReadResult>(serving::Context&, const Recorded&)> read;
  std::vector<authority::CallField> fields = {};
};

class Provider {
 public:
  struct Entry final : serving::FoundTool {
    [[nodiscard]] const protocol::Tool& tool() const override { return guarded.tool; }
    std::string toolset;
    GuardedTool guarded;
    std::optional<protocol::Schema> input = {};  // missing: the owner of the tool checks
    std::optional<protocol::Schema> output = {};
    std::string upstream = {};  // "server/tool" for the audit line, when it is somebody else's
  };
  virtual ~Provider() = default;

  /// Brings what it offers up to date, before a list and before something is called unknown. Bounded in time;
  /// what cannot be had is left out.
  virtual io::Task<void> prepare(const authority::Caller& caller);

  virtual void append_tools(const authority::Caller& caller, std::vector<protocol::Tool>& out) const;
  [[nodiscard]] virtual std::shared_ptr<const Entry> find(const authority::Caller& caller,
                                                          std::string_view name) const;

  virtual void append_resources(const authority::Caller& caller, std::vector<protocol::Resource>& out) const;
  virtual void append_templates(const authority::Caller& caller,
                                std::vector<protocol::ResourceTemplate>& out) const;
  [[nodiscard]] virtual std::optional<FoundResource> find_resource(const authority::Caller& caller,
                                                                   std::string_view uri) const;
  /// How long an answer of the resource may be kept; nothing when it is not ours.
  [[nodiscard]] virtual std::optional<protocol::Caching> caching_of(std::string_view uri) const;
  /// False when the resource is not ours. An Error refuses the subscription.
  virtual io::Task<bool> watch(const Recorded& recorded, std::string uri);
  virtual void unwatch(const authority::Caller& caller, std::string_view uri);
  /// Callers of one view see the same thing under a URI and share its watch; nothing when the resource is not
  /// ours.
  [[nodiscard]] virtual std::optional<std::string> find_view(const authority::Caller& caller,
                                                             std::string_view uri) const;
  /// Resources that come and go, such as the files that runs leave: asked for each list.
  virtual io::Task<void> append_changing(const authority::Caller& caller,
                                         std::vector<protocol::Resource>& out);
  /// A session is over: what was kept for it may go.
  virtual void session_ended(const authority::Caller& caller);

  virtual void append_prompts(const authority::Caller& caller, std::vector<protocol::Prompt>& out) const;
  [[nodiscard]] virtual std::shared_ptr<const GuardedPrompt> find_prompt(const authority::Caller& caller,
                                                                         std::string_view name) const;
  /// Nothing when the prompt or template is not ours.
  virtual io::Task<std::optional<protocol::Completion>> complete(serving::Context& context,
                                                                 const protocol::CompletionRequest& request);

  virtual void want_log_level(protocol::LogLevel level);
};

/// A fixed set of tools, resources and prompts under one name.
class Toolset final : public Provider {
 public:
  explicit Toolset(std::string name) : name_(std::move(name)) {}

  /// Fails when the name is taken or a schema does not compile.
  Result<void> add_tool(GuardedTool tool);
  void add_resource(GuardedResource resource) { resources_.push_back(std::move(resource)); }
  void add_prompt(GuardedPrompt prompt) {
    prompts_.push_back(std::make_shared<const GuardedPrompt>(std::move(prompt)));
  }

  void append_tools(const authority::Caller& caller, std::vector<protocol::Tool>& out) const override;
  [[nodiscard]] std::shared_ptr<const Entry> find(const authority::Caller& caller,
                                                  std::string_view name) const override;
  void append_resources(const authority::Caller& caller, std::vector<protocol::Resource>& out) const override;
  void append_templates(const authority::Caller& caller,
                        std::vector<protocol::ResourceTemplate>& out) const override;
  [[nodiscard]] std::optional<FoundResource> find_resource(const authority::Caller& caller,
                                                           std::string_view uri) const override;
  void append_prompts(const authority::Caller& caller, std::vector<protocol::Prompt>& out) const override;
  [[nodiscard]] std::shared_ptr<const GuardedPrompt> find_prompt(const authority::Caller& caller,
                                                                 std::string_view name) const override;
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  std::string name_;
  std::vector<std::shared_ptr<const Entry>> tools_;
  std::map<std::string, std::shared_ptr<const Entry>, std::less<>> by_name_;
  std::vector<GuardedResource> resources_;
  std::vector<std::shared_ptr<const GuardedPrompt>> prompts_;
};

}  // namespace relay::pipeline
