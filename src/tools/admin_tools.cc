#include "tools/admin_tools.h"

#include "audit/tail.h"
#include "policy/grammar.h"
#include "tools/embedded.h"
#include "tools/tool_definition.h"

namespace relay::tools {
namespace {

using authority::Recorded;
using protocol::ToolResult;

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

Result<pipeline::GuardedTool> make_tool(std::string_view definition, pipeline::ToolHandler handler) {
  RELAY_TRY(const ToolDefinition defined, ToolDefinition::parse(definition));
  pipeline::GuardedTool guarded;
  guarded.tool = defined.tool();
  guarded.tier = authority::Tier::read_only;
  guarded.handler = std::move(handler);
  return guarded;
}

}  // namespace

Result<void> add_admin_tools(pipeline::Toolset& toolset, std::shared_ptr<const AdminWorld> world) {
  RELAY_TRY(auto info, make_tool(embedded::server_info(),
                                 [world](serving::Context&, const Recorded&) { return server_info(world); }));
  RELAY_CHECK(toolset.add_tool(std::move(info)));
  RELAY_TRY(auto tail,
            make_tool(embedded::audit_tail(), [world](serving::Context&, const Recorded& recorded) {
              return audit_tail(world, recorded);
            }));
  RELAY_CHECK(toolset.add_tool(std::move(tail)));
  if (world->pipeline.broker().confirming() == policy::Confirming::operator_only) return {};
  RELAY_TRY(auto confirm,
            make_tool(embedded::operation_confirm(), [world](serving::Context&, const Recorded& recorded) {
              return operation_confirm(world, recorded);
            }));
  RELAY_CHECK(toolset.add_tool(std::move(confirm)));
  return {};
}

}  // namespace relay::tools
