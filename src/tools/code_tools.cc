#include "tools/code_tools.h"

#include <utility>

#include <fmt/format.h>

#include "base/bytes.h"
#include "tools/code_arguments.h"
#include "tools/embedded.h"
#include "tools/tool_definition.h"

namespace relay::tools {
namespace {

using executors::Language;
using protocol::ToolResult;

constexpr std::string_view kServersInJs =
    "MCP servers: await mcp.<server>.<tool>({...}); mcp.search(\"words\") finds tools.";
constexpr std::string_view kServersInPy =
    "MCP servers: mcp_<server>.<tool>(...); mcp.runtime.search_tool_docs_sync(\"words\").";

// Passes output on while the run goes on: as progress where the client asked for it, as log messages where it
// listens.
class StreamingObserver final : public executors::RunObserver {
 public:
  StreamingObserver(serving::Reporter& reporter, Language language)
      : reporter_(reporter), logger_(fmt::format("run_{}", executors::name_of(language))) {}

  void on_stdout(std::string_view bytes) override { pass_on("stdout", bytes); }
  void on_stderr(std::string_view bytes) override { pass_on("stderr", bytes); }
  void on_progress(std::string_view text) override { reporter_.progress(++steps_, {}, text); }

 private:
  void pass_on(std::string_view stream, std::string_view bytes) {
    const std::string text = to_valid_utf8(utf8_prefix(bytes, limits::kStreamedBytes));
    reporter_.progress(++steps_, {}, text);
    reporter_.log(protocol::LogLevel::info, logger_, json::object{{"stream", stream}, {"text", text}});
  }

  serving::Reporter& reporter_;
  std::string logger_;
  double steps_ = 0;
};

io::Task<ToolResult> call_code_tool(std::shared_ptr<const runs::RunDependencies> world, Language language,
                                    serving::Context& context, const authority::Recorded& recorded) {
  runs::CodeRun run{.language = language, .context = &context};
  StreamingObserver observer(context, language);
  RELAY_CO_TRY(const runs::FinishedRun finished,
               co_await runs::run_code(*world, recorded, std::move(run), observer));
  co_return runs::run_result(finished);
}

CodeToolFacts facts_of(const runs::RunDependencies& world, ServersForCode code_servers) {
  CodeToolFacts facts;
  facts.code_servers = code_servers;
  facts.timeout_ms = world.policy.limits.timeout_ms;
  facts.mounts = world.trees.spec().mounts;
  if (world.code_mode && world.code_mode->requires_servers()) facts.servers = ServersByDefault::none;
  return facts;
}

}  // namespace

Result<protocol::Tool> describe_code_tool(Language language, const CodeToolFacts& facts) {
  const bool js = language == Language::js;
  RELAY_TRY(ToolDefinition defined, ToolDefinition::parse(js ? embedded::run_js() : embedded::run_py()));
  RELAY_CHECK(defined.set_default("timeoutMs", facts.timeout_ms));
  if (facts.servers == ServersByDefault::none)
    RELAY_CHECK(defined.describe_parameter("servers", "MCP servers it may call. Default: none."));
  if (facts.tabs == BrowserTabs::cannot_attach) RELAY_CHECK(defined.remove_parameter("executor"));
  if (facts.code_servers == ServersForCode::some) defined.add_sentence(js ? kServersInJs : kServersInPy);
  defined.add_sentence(mounts_sentence(facts.mounts));
  return defined.tool();
}

Result<void> add_code_tools(pipeline::Toolset& toolset, std::shared_ptr<const runs::RunDependencies> world,
                            ServersForCode code_servers) {
  for (const Language language : {Language::js, Language::py}) {
    pipeline::GuardedTool guarded;
    RELAY_TRY(guarded.tool, describe_code_tool(language, facts_of(*world, code_servers)));
    guarded.tier = authority::Tier::reversible;
    guarded.classify = code_tier;
    guarded.policy_text = code_policy_text;
    guarded.fields = code_fields;
    guarded.handler = [world, language](serving::Context& context, const authority::Recorded& recorded) {
      return call_code_tool(world, language, context, recorded);
    };
    RELAY_CHECK(toolset.add_tool(std::move(guarded)));
  }
  return {};
}

}  // namespace relay::tools
