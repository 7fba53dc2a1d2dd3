#include "tools/admin_tools.h"

#include "audit/tail.h"
#include "policy/grammar.h"

namespace relay::tools {
namespace {

using authority::Recorded;
using protocol::JsonText;
using protocol::ToolResult;

constexpr std::string_view kTailSchema =
    R"({"type":"object","additionalProperties":false,"properties":{"lines":{"type":"integer","minimum":1,"maximum":1000,"default":50},)"
    R"("tool":{"type":"string"},"tier":{"type":"integer","minimum":0,"maximum":3},"denied":{"type":"boolean"}}})";

constexpr std::string_view kConfirmSchema =
    R"({"type":"object","required":["token"],"additionalProperties":false,"properties":{"token":{"type":"string"}}})";

audit::TailFilter read_filter(const json::object& arguments) {
  audit::TailFilter filter;
  filter.lines = static_cast<std::size_t>(json::find_int(arguments, "lines").value_or(50));
  filter.tool = std::string(json::find_string(arguments, "tool").value_or(""));
  if (const auto tier = json::find_int(arguments, "tier")) filter.tier = static_cast<int>(*tier);
  filter.denied = json::find_bool(arguments, "denied");
  return filter;
}

io::Task<ToolResult> server_info(std::shared_ptr<const AdminWorld> world) {
  co_return ToolResult::value(world->info.collect());
}

io::Task<ToolResult> audit_tail(std::shared_ptr<const AdminWorld> world, const Recorded& recorded) {
  const audit::TailFilter filter = read_filter(recorded.call().args.object());
  auto read = [path = world->audit_path.string(), filter] { return audit::last_lines(path, filter); };
  RELAY_CO_TRY(const std::vector<std::string> lines, co_await world->pool.run(std::move(read)));
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  co_return ToolResult::text(text.empty() ? "(no lines)" : std::move(text));
}

io::Task<ToolResult> operation_confirm(std::shared_ptr<const AdminWorld> world, const Recorded& recorded) {
  const json::object& arguments = recorded.call().args.object();
  const std::string token(json::find_string(arguments, "token").value_or(""));
  const bool armed = world->pipeline.broker().arm(token, recorded.call().caller);
  co_return armed ? ToolResult::text(policy::armed_text()) : ToolResult::error(policy::not_armed_text());
}

pipeline::GuardedTool make_tool(std::string name, std::string description, std::string_view schema,
                                pipeline::ToolHandler handler) {
  pipeline::GuardedTool guarded;
  guarded.tool.name = std::move(name);
  guarded.tool.description = std::move(description);
  if (!schema.empty()) guarded.tool.input_schema = JsonText::trusted(std::string(schema));
  guarded.tool.annotations.read_only = true;
  guarded.tier = authority::Tier::read_only;
  guarded.handler = std::move(handler);
  return guarded;
}

}  // namespace

Result<void> add_admin_tools(pipeline::Toolset& toolset, std::shared_ptr<const AdminWorld> world) {
  RELAY_CHECK(toolset.add_tool(
      make_tool("server_info", "State of this server: version, policy, limits, walls, audit, sandboxes.", "",
                [world](mcp::Context&, const Recorded&) { return server_info(world); })));
  RELAY_CHECK(toolset.add_tool(
      make_tool("audit_tail", "The last lines of the audit log, oldest first, as JSON lines.", kTailSchema,
                [world](mcp::Context&, const Recorded& recorded) { return audit_tail(world, recorded); })));
  RELAY_CHECK(toolset.add_tool(make_tool(
      "operation_confirm",
      "Arms an irreversible call that asked for confirmation; then issue that exact call again.",
      kConfirmSchema,
      [world](mcp::Context&, const Recorded& recorded) { return operation_confirm(world, recorded); })));
  return {};
}

}  // namespace relay::tools
