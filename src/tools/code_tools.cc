#include "tools/code_tools.h"

#include <utility>

#include <fmt/format.h>

#include "base/bytes.h"
#include "tools/code_arguments.h"

namespace relay::tools {
namespace {

using executors::Language;
using protocol::ToolResult;

// The same few words whatever servers there are: what they offer is found by asking, and costs nobody else.
constexpr std::string_view kJsDescription =
    "Run JavaScript (ES module, top-level await) in a fresh sandbox; returns stdout, stderr, the last "
    "expression's value. Files: /tmp, /out "
    "(kept as artifacts), /host/<mount>. display(path|bytes) returns an image. fetch for allowed hosts. "
    "MCP servers: await mcp.<server>.<tool>({...}); mcp.search(\"words\") and /mcps find tools.";
constexpr std::string_view kPyDescription =
    "Like run_js, in Python 3.14. MCP servers: mcp_<server>.<tool>(...); "
    "mcp.runtime.search_tool_docs_sync(\"words\").";

// Passes output on while the run goes on: as progress where the client asked for it, as log messages where it
// listens.
class StreamingObserver final : public executors::RunObserver {
 public:
  StreamingObserver(mcp::Context& context, Language language)
      : context_(context), logger_(fmt::format("run_{}", executors::name_of(language))) {}

  void on_stdout(std::string_view bytes) override { pass_on("stdout", bytes); }
  void on_stderr(std::string_view bytes) override { pass_on("stderr", bytes); }
  void on_progress(std::string_view text) override { context_.progress(++steps_, {}, text); }

 private:
  void pass_on(std::string_view stream, std::string_view bytes) {
    const std::string text = to_valid_utf8(utf8_prefix(bytes, limits::kStreamedBytes));
    context_.progress(++steps_, {}, text);
    context_.log(protocol::LogLevel::info, logger_, json::object{{"stream", stream}, {"text", text}});
  }

  mcp::Context& context_;
  std::string logger_;
  double steps_ = 0;
};

io::Task<ToolResult> call_code_tool(std::shared_ptr<const runs::RunDependencies> world, Language language,
                                    mcp::Context& context, const authority::Recorded& recorded) {
  runs::CodeRun run{.language = language, .context = &context};
  StreamingObserver observer(context, language);
  RELAY_CO_TRY(const runs::FinishedRun finished,
               co_await runs::run_code(*world, recorded, std::move(run), observer));
  co_return runs::run_result(finished);
}

protocol::Tool describe_tool(Language language) {
  const bool js = language == Language::js;
  protocol::Tool tool;
  tool.name = js ? "run_js" : "run_py";
  tool.description = js ? kJsDescription : kPyDescription;
  tool.input_schema = protocol::JsonText::trusted(std::string(code_input_schema(language)));
  tool.output_schema = protocol::JsonText::trusted(std::string(code_output_schema()));
  tool.annotations.destructive = false;
  return tool;
}

}  // namespace

Result<void> add_code_tools(pipeline::Toolset& toolset, std::shared_ptr<const runs::RunDependencies> world) {
  for (const Language language : {Language::js, Language::py}) {
    pipeline::GuardedTool guarded;
    guarded.tool = describe_tool(language);
    guarded.tier = authority::Tier::reversible;
    guarded.policy_text = code_policy_text;
    guarded.fields = code_fields;
    guarded.handler = [world, language](mcp::Context& context, const authority::Recorded& recorded) {
      return call_code_tool(world, language, context, recorded);
    };
    RELAY_CHECK(toolset.add_tool(std::move(guarded)));
  }
  return {};
}

}  // namespace relay::tools
