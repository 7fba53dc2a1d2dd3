#include <fmt/format.h>

#include "fixtures.h"
#include "io/spawn.h"

namespace relay::conformance {
namespace {

using protocol::ElicitResult;
using protocol::ToolResult;
using serving::Context;
using namespace std::chrono_literals;

constexpr const char* kConfirmForm = R"({"type":"object","properties":{"confirm":{"type":"boolean"}}})";
constexpr const char* kNameForm = R"({"type":"object","properties":{"name":{"type":"string"}}})";

io::Task<ToolResult> greet(Context&, authority::Arguments arguments) {
  co_return ToolResult::text(fmt::format("Hello, {}!", text_argument(arguments.object(), "name")));
}

io::Task<ToolResult> slow_compute(Context&, authority::Arguments arguments) {
  const double seconds = json::find_number(arguments.object(), "seconds").value_or(0);
  RELAY_CO_CHECK(
      co_await io::sleep_for(std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000))));
  co_return ToolResult::text(fmt::format("{} done", text_argument(arguments.object(), "label")));
}

io::Task<ToolResult> failing_job(Context&, authority::Arguments) {
  RELAY_CO_CHECK(co_await io::sleep_for(300ms));
  co_return ToolResult::error("the job failed");
}

io::Task<ToolResult> protocol_error_job(Context&, authority::Arguments) {
  RELAY_CO_CHECK(co_await io::sleep_for(100ms));
  co_return fail(protocol::to_error({protocol::code::kInternalError, "the job broke the protocol", {}}));
}

io::Task<ToolResult> confirm_delete(Context& context, authority::Arguments arguments) {
  const std::string file = text_argument(arguments.object(), "filename");
  RELAY_CO_TRY(const ElicitResult answer,
               co_await context.elicit(make_form("Delete " + file + "?", kConfirmForm), "confirm"));
  const bool confirmed = answer.accepted() && json::find_bool(answer.content, "confirm").value_or(false);
  co_return ToolResult::text((confirmed ? "deleted " : "kept ") + file);
}

io::Task<ToolResult> multi_input(Context& context, authority::Arguments) {
  std::vector<protocol::Ask> asks;
  asks.push_back({make_form("First name?", kNameForm), "first"});
  asks.push_back({make_form("Second name?", kNameForm), "second"});
  RELAY_CO_TRY(const auto answers, co_await context.ask_all(std::move(asks)));
  co_return ToolResult::text(fmt::format("{} and {}",
                                         text_argument(std::get<ElicitResult>(answers[0]).content, "name"),
                                         text_argument(std::get<ElicitResult>(answers[1]).content, "name")));
}

io::Task<ToolResult> input_then_task(Context& context, authority::Arguments) {
  RELAY_CO_TRY(const ElicitResult answer,
               co_await context.elicit(make_form("What is your name?", kNameForm), "user_name"));
  context.become_task();
  RELAY_CO_CHECK(co_await io::sleep_for(100ms));
  co_return ToolResult::text(fmt::format("Hello, {}!", text_argument(answer.content, "name")));
}

protocol::Tool as_task(protocol::Tool tool, protocol::TaskSupport support) {
  tool.task_support = support;
  return tool;
}

}  // namespace

Result<void> add_task_tools(mcp::Catalogue& catalogue) {
  using enum protocol::TaskSupport;
  RELAY_CHECK(catalogue.add_tool(
      describe_tool("greet", "Greets at once",
                    R"({"type":"object","properties":{"name":{"type":"string"}},"required":["name"]})"),
      greet));
  RELAY_CHECK(catalogue.add_tool(
      as_task(
          describe_tool(
              "slow_compute", "Takes its time",
              R"({"type":"object","properties":{"seconds":{"type":"number","minimum":0},"label":{"type":"string"}}})"),
          optional),
      slow_compute));
  RELAY_CHECK(
      catalogue.add_tool(as_task(describe_tool("failing_job", "Always fails"), required), failing_job));
  RELAY_CHECK(
      catalogue.add_tool(as_task(describe_tool("protocol_error_job", "Ends with a JSON-RPC error"), optional),
                         protocol_error_job));
  RELAY_CHECK(catalogue.add_tool(
      as_task(describe_tool("confirm_delete", "Asks before it deletes",
                            R"({"type":"object","properties":{"filename":{"type":"string"}}})"),
              optional),
      confirm_delete));
  RELAY_CHECK(catalogue.add_tool(as_task(describe_tool("multi_input", "Asks two things at once"), optional),
                                 multi_input));
  protocol::Tool late =
      as_task(describe_tool("test_tool_with_task", "Asks first, then becomes a task"), required);
  late.task_start = protocol::TaskStart::when_told;
  return catalogue.add_tool(std::move(late), input_then_task);
}

}  // namespace relay::conformance
