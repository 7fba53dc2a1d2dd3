#include "fixtures.h"

namespace relay::conformance {
namespace {

using mcp::Catalogue;
using protocol::ToolResult;
using serving::Context;

// The catalogue outlives its handlers: main owns both.
mcp::CatalogueToolHandler changes_tools(Catalogue& catalogue) {
  return [&catalogue](Context&, authority::Arguments) -> io::Task<ToolResult> {
    catalogue.report_tools_changed();
    co_return ToolResult::text("tools changed");
  };
}

mcp::CatalogueToolHandler changes_prompts(Catalogue& catalogue) {
  return [&catalogue](Context&, authority::Arguments) -> io::Task<ToolResult> {
    catalogue.report_prompts_changed();
    co_return ToolResult::text("prompts changed");
  };
}

mcp::CatalogueToolHandler updates_resource(Catalogue& catalogue) {
  return [&catalogue](Context&, authority::Arguments arguments) -> io::Task<ToolResult> {
    catalogue.report_updated(text_argument(arguments.object(), "uri"));
    co_return ToolResult::text("resource updated");
  };
}

}  // namespace

Result<void> add_changing_tools(Catalogue& catalogue) {
  RELAY_CHECK(catalogue.add_tool(describe_tool("test_trigger_tool_change", "Announces a change of the tools"),
                                 changes_tools(catalogue)));
  RELAY_CHECK(
      catalogue.add_tool(describe_tool("test_trigger_prompt_change", "Announces a change of the prompts"),
                         changes_prompts(catalogue)));
  return catalogue.add_tool(
      describe_tool("test_update_resource", "Announces a change of a resource",
                    R"({"type":"object","properties":{"uri":{"type":"string"}},"required":["uri"]})"),
      updates_resource(catalogue));
}

}  // namespace relay::conformance
