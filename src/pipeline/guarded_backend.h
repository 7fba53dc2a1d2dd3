// GuardedBackend: what Relay serves. Toolsets hand it their tools, resources and prompts; every call of them
// goes through the Pipeline before the handler sees it.
//
//   Toolset files("files");
//   RELAY_CHECK(files.add_tool({.tool = {.name = "read", ...}, .tier = Tier::read_only,
//                               .policy_text = [](const json::object& args) { return path_of(args); },
//                               .handler = read_file}));
//   backend.add(files);
//
// A handler takes a `const Recorded&`; recorded.call().args are the arguments that were judged. Handlers of
// the gateway pass on the bytes that the client sent, which parse to the same value.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/pipeline.h"
#include "pipeline/provider.h"
#include "serving/backend.h"

namespace relay::pipeline {

enum class Offered : std::uint8_t { yes, no };

/// What the configuration says about one tool.
struct ToolSetting {
  Offered offered = Offered::yes;
  std::optional<std::size_t> result_bytes = {};  // instead of the tool's own budget
};
using ToolSettings = std::map<std::string, ToolSetting, std::less<>>;  // by the name in the tool list

class GuardedBackend final : public serving::Backend {
 public:
  GuardedBackend(serving::Identity identity, Pipeline& pipeline, IdMaker ids);

  /// Earlier ones win when two have the same name. The backend does not own them.
  void add(Provider& provider);
  /// Where a provider reports what changed. Null while nobody serves.
  /// News for all clients; without effect while nobody serves them.
  void tell_clients(const protocol::ServerEvent& event) const {
    if (tell_) tell_(event);
  }
  /// What the capabilities say follows from what is served: known once all providers are added.
  void set_capabilities(protocol::ServerCapabilities capabilities) {
    identity_.capabilities = std::move(capabilities);
  }
  /// Clients that connect from now on are told these.
  void set_instructions(std::string instructions) { identity_.instructions = std::move(instructions); }

  /// Holds for every provider's tools. A tool that is not offered is in no list and cannot be called, by
  /// programs neither.
  void set_tool_settings(ToolSettings settings);

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
  io::Task<void> watch(const authority::Caller& caller, std::string uri) override;
  [[nodiscard]] std::string view_of(const authority::Caller& caller, std::string_view uri) const override;
  void unwatch(const authority::Caller& caller, std::string_view uri) override;
  void session_ended(const authority::Caller& caller) override;
  void want_log_level(protocol::LogLevel level) override;

  /// For calls that guest code makes: the same order, with the run as parent. The tool need not be in
  /// anybody's list.
  io::Task<protocol::ToolResult> call_inner(serving::Context& context, std::string run,
                                            std::shared_ptr<const Provider::Entry> entry,
                                            authority::Arguments arguments);

 private:
  /// Among what is at hand; null when no provider knows the name.
  [[nodiscard]] std::shared_ptr<const Provider::Entry> find_entry(const authority::Caller& caller,
                                                                  std::string_view name) const;
  io::Task<void> prepare(const authority::Caller& caller);
  /// Asks the providers to look again when nobody knows the URI.
  io::Task<std::optional<FoundResource>> find_resource(const authority::Caller& caller, std::string_view uri);
  authority::Call make_call(const authority::Caller& caller, std::string toolset, std::string tool,
                            authority::Arguments args);
  io::Task<protocol::ToolResult> run_tool(serving::Context& context,
                                          std::shared_ptr<const Provider::Entry> entry,
                                          authority::Arguments arguments, std::string parent);

  /// Results that are cut name the tool that reads the rest, unless the configuration switched it off.
  void check_read_tool();
  [[nodiscard]] bool is_offered(std::string_view name) const;
  [[nodiscard]] std::size_t budget_of(const GuardedTool& tool) const;

  serving::Identity identity_;
  ToolSettings settings_;
  Pipeline& pipeline_;
  IdMaker ids_;
  protocol::EventSink tell_;
  std::vector<Provider*> providers_;
  Toolset own_;  // relay://results
};

}  // namespace relay::pipeline
