#include <map>
#include <memory>

#include <fmt/format.h>

#include "fixtures.h"
#include "io/spawn.h"

namespace relay::conformance {
namespace {

using protocol::LogLevel;
using protocol::ToolResult;
using serving::Context;
using namespace std::chrono_literals;

protocol::EmbeddedResource embed(std::string uri, std::string mime_type, std::string text) {
  return {{std::move(uri), std::move(mime_type), std::move(text), {}}, {}};
}

io::Task<ToolResult> simple_text(Context&, authority::Arguments) {
  co_return ToolResult::text("This is a simple text response for testing.");
}

io::Task<ToolResult> image(Context&, authority::Arguments) {
  ToolResult result;
  result.content.push_back(protocol::image_content(png_bytes(), "image/png"));
  co_return result;
}

io::Task<ToolResult> audio(Context&, authority::Arguments) {
  ToolResult result;
  result.content.push_back(protocol::audio_content(wav_bytes(), "audio/wav"));
  co_return result;
}

io::Task<ToolResult> embedded_resource(Context&, authority::Arguments) {
  ToolResult result;
  result.content.push_back(
      embed("test://embedded-resource", "text/plain", "This is an embedded resource content."));
  co_return result;
}

io::Task<ToolResult> multiple_content(Context&, authority::Arguments) {
  ToolResult result = ToolResult::text("Multiple content types test:");
  result.content.push_back(protocol::image_content(png_bytes(), "image/png"));
  result.content.push_back(
      embed("test://mixed-content-resource", "application/json", R"({"test":"data","value":123})"));
  co_return result;
}

io::Task<ToolResult> error_handling(Context&, authority::Arguments) {
  co_return ToolResult::error("This tool intentionally returns an error for testing");
}

io::Task<ToolResult> with_progress(Context& context, authority::Arguments) {
  for (const int value : {0, 50, 100}) {
    context.progress(value, 100, fmt::format("Completed step {} of 100", value));
    RELAY_CO_CHECK(co_await io::sleep_for(50ms));
  }
  co_return ToolResult::text("progress done");
}

io::Task<ToolResult> with_logging(Context& context, authority::Arguments) {
  for (const char* message : {"Tool execution started", "Tool processing data", "Tool execution completed"}) {
    context.log(LogLevel::info, "fixture", message);
    RELAY_CO_CHECK(co_await io::sleep_for(50ms));
  }
  co_return ToolResult::text("logging done");
}

io::Task<ToolResult> reconnection(Context& context, authority::Arguments) {
  context.close_stream();
  RELAY_CO_CHECK(co_await io::sleep_for(200ms));
  co_return ToolResult::text("Reconnection test completed successfully");
}

io::Task<ToolResult> echo(Context&, authority::Arguments arguments) {
  co_return ToolResult::text(text_argument(arguments.object(), "message"));
}

io::Task<ToolResult> add_numbers(Context&, authority::Arguments arguments) {
  const double sum = json::find_number(arguments.object(), "a").value_or(0) +
                     json::find_number(arguments.object(), "b").value_or(0);
  co_return ToolResult::value(json::object{{"sum", sum}});
}

io::Task<ToolResult> show_arguments(Context&, authority::Arguments arguments) {
  co_return ToolResult::text(std::string(arguments.text()));
}

// What became of the sleeps that have a name: for tests that lose their connection on purpose and ask on
// another one.
using Fates = std::map<std::string, std::string, std::less<>>;

class NamedSleep {
 public:
  NamedSleep(std::shared_ptr<Fates> fates, std::string name)
      : fates_(std::move(fates)), name_(std::move(name)) {
    tell("asleep");
  }
  NamedSleep(const NamedSleep&) = delete;
  NamedSleep& operator=(const NamedSleep&) = delete;
  ~NamedSleep() { tell(slept_ ? "slept" : "cancelled"); }
  void wake() { slept_ = true; }

 private:
  void tell(const char* fate) {
    if (!name_.empty()) (*fates_)[name_] = fate;
  }
  std::shared_ptr<Fates> fates_;
  std::string name_;
  bool slept_ = false;
};

io::Task<ToolResult> sleep(std::shared_ptr<Fates> fates, authority::Arguments arguments) {
  NamedSleep one(std::move(fates), text_argument(arguments.object(), "name"));
  RELAY_CO_CHECK(co_await io::sleep_for(
      std::chrono::milliseconds(json::find_int(arguments.object(), "ms").value_or(0))));
  one.wake();
  co_return ToolResult::text("slept");
}

io::Task<ToolResult> sleep_fate(std::shared_ptr<Fates> fates, authority::Arguments arguments) {
  const auto found = fates->find(text_argument(arguments.object(), "name"));
  co_return ToolResult::text(found == fates->end() ? "unknown" : found->second);
}

Result<void> add_sleeping_tools(mcp::Catalogue& catalogue) {
  auto fates = std::make_shared<Fates>();
  RELAY_CHECK(catalogue.add_tool(
      describe_tool(
          "sleep", "Waits",
          R"({"type":"object","properties":{"ms":{"type":"integer","minimum":0,"maximum":60000},"name":{"type":"string"}},"required":["ms"]})"),
      [fates](Context&, authority::Arguments arguments) { return sleep(fates, std::move(arguments)); }));
  return catalogue.add_tool(
      describe_tool("sleep_fate", "Says what became of a sleep",
                    R"({"type":"object","properties":{"name":{"type":"string"}},"required":["name"]})"),
      [fates](Context&, authority::Arguments arguments) { return sleep_fate(fates, std::move(arguments)); });
}

constexpr const char* kJsonSchema2020 =
    R"({"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
"$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},
"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},"contactMethod":{"type":"string","enum":["phone","email"]},
"phone":{"type":"string"},"email":{"type":"string"}},
"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],
"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},"then":{"required":["phone"]},"else":{"required":["email"]},
"additionalProperties":false})";

Result<void> add_plain_tools(mcp::Catalogue& catalogue) {
  RELAY_CHECK(catalogue.add_tool(describe_tool("test_simple_text", "Returns a simple text"), simple_text));
  RELAY_CHECK(catalogue.add_tool(describe_tool("test_image_content", "Returns an image"), image));
  RELAY_CHECK(catalogue.add_tool(describe_tool("test_audio_content", "Returns audio"), audio));
  RELAY_CHECK(catalogue.add_tool(describe_tool("test_embedded_resource", "Returns an embedded resource"),
                                 embedded_resource));
  RELAY_CHECK(catalogue.add_tool(
      describe_tool("test_multiple_content_types", "Returns text, an image and a resource"),
      multiple_content));
  RELAY_CHECK(catalogue.add_tool(describe_tool("test_error_handling", "Always fails"), error_handling));
  RELAY_CHECK(
      catalogue.add_tool(describe_tool("test_tool_with_progress", "Reports progress"), with_progress));
  RELAY_CHECK(catalogue.add_tool(describe_tool("test_tool_with_logging", "Logs three times"), with_logging));
  RELAY_CHECK(catalogue.add_tool(describe_tool("test_logging_tool", "Logs, if the client asked for it"),
                                 with_logging));
  return catalogue.add_tool(describe_tool("test_reconnection", "Closes its stream and answers later"),
                            reconnection);
}

}  // namespace

Result<void> add_content_tools(mcp::Catalogue& catalogue) {
  RELAY_CHECK(add_plain_tools(catalogue));
  RELAY_CHECK(catalogue.add_tool(
      describe_tool("json_schema_2020_12_tool", "Has a rich input schema", kJsonSchema2020), echo));
  RELAY_CHECK(catalogue.add_tool(
      describe_tool(
          "test_x_mcp_header", "Has an argument that is repeated in a header",
          R"({"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"query":{"type":"string"}}})"),
      show_arguments));
  RELAY_CHECK(catalogue.add_tool(
      describe_tool(
          "echo", "Says what it was told",
          R"({"type":"object","properties":{"message":{"type":"string"}},"required":["message"],"additionalProperties":false})"),
      echo));
  RELAY_CHECK(catalogue.add_tool(describe_tool("show_arguments", "Says how its arguments were spelled"),
                                 show_arguments));
  RELAY_CHECK(add_sleeping_tools(catalogue));
  protocol::Tool sum = describe_tool(
      "add_numbers", "Adds two numbers",
      R"({"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}},"required":["a","b"]})");
  sum.output_schema = protocol::JsonText::trusted(
      R"({"type":"object","properties":{"sum":{"type":"number"}},"required":["sum"]})");
  return catalogue.add_tool(std::move(sum), add_numbers);
}

}  // namespace relay::conformance
