#include <fmt/format.h>

#include "fixtures.h"

namespace relay::conformance {
namespace {

using protocol::Ask;
using protocol::ElicitResult;
using protocol::ToolResult;
using serving::Context;

constexpr const char* kNameForm =
    R"({"type":"object","properties":{"name":{"type":"string"}},"required":["name"]})";
constexpr const char* kConfirmForm =
    R"({"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"]})";

std::string describe_answer(std::string_view prefix, const ElicitResult& answer) {
  return fmt::format("{}: action={}, content={}", prefix, protocol::name_of(answer.action),
                     json::write(answer.content));
}

io::Task<ToolResult> sampling(Context& context, authority::Arguments arguments) {
  protocol::SampleRequest request = make_sample(text_argument(arguments.object(), "prompt"), 100);
  RELAY_CO_TRY(const protocol::SampleResult answer, co_await context.sample(std::move(request)));
  co_return ToolResult::text("LLM response: " + answer.text());
}

io::Task<ToolResult> elicitation(Context& context, authority::Arguments arguments) {
  protocol::ElicitForm form =
      make_form(text_argument(arguments.object(), "message"), R"({"type":"object","properties":{
    "username":{"type":"string","description":"User's response"},
    "email":{"type":"string","description":"User's email address"}},"required":["username","email"]})");
  RELAY_CO_TRY(const ElicitResult answer, co_await context.elicit(std::move(form)));
  co_return ToolResult::text(describe_answer("User response", answer));
}

io::Task<ToolResult> elicitation_defaults(Context& context, authority::Arguments) {
  protocol::ElicitForm form =
      make_form("Please review and update the form fields with defaults", R"({"type":"object","properties":{
    "name":{"type":"string","description":"User name","default":"John Doe"},
    "age":{"type":"integer","description":"User age","default":30},
    "score":{"type":"number","description":"User score","default":95.5},
    "status":{"type":"string","description":"User status","enum":["active","inactive","pending"],"default":"active"},
    "verified":{"type":"boolean","description":"Verification status","default":true}},"required":[]})");
  RELAY_CO_TRY(const ElicitResult answer, co_await context.elicit(std::move(form)));
  co_return ToolResult::text(describe_answer("Elicitation completed", answer));
}

io::Task<ToolResult> elicitation_enums(Context& context, authority::Arguments) {
  protocol::ElicitForm form =
      make_form("Please select options from the enum fields", R"({"type":"object","properties":{
    "untitledSingle":{"type":"string","description":"Select one option","enum":["option1","option2","option3"]},
    "titledSingle":{"type":"string","description":"Select one option with titles","oneOf":[
      {"const":"value1","title":"First Option"},{"const":"value2","title":"Second Option"},{"const":"value3","title":"Third Option"}]},
    "legacyEnum":{"type":"string","description":"Select one option, legacy","enum":["opt1","opt2","opt3"],
      "enumNames":["Option One","Option Two","Option Three"]},
    "untitledMulti":{"type":"array","description":"Select multiple options","minItems":1,"maxItems":3,
      "items":{"type":"string","enum":["option1","option2","option3"]}},
    "titledMulti":{"type":"array","description":"Select multiple options with titles","minItems":1,"maxItems":3,"items":{"anyOf":[
      {"const":"value1","title":"First Choice"},{"const":"value2","title":"Second Choice"},{"const":"value3","title":"Third Choice"}]}}},
    "required":[]})");
  RELAY_CO_TRY(const ElicitResult answer, co_await context.elicit(std::move(form)));
  co_return ToolResult::text(describe_answer("Elicitation completed", answer));
}

io::Task<ToolResult> missing_capability(Context& context, authority::Arguments) {
  RELAY_CO_TRY(const protocol::SampleResult answer, co_await context.sample(make_sample("Hello", 10)));
  co_return ToolResult::text(answer.text());
}

io::Task<ToolResult> streaming_elicitation(Context& context, authority::Arguments) {
  context.progress(1, 2, "about to ask");
  RELAY_CO_TRY(const ElicitResult answer,
               co_await context.elicit(make_form("What is your name?", kNameForm), "user_name"));
  co_return ToolResult::text(describe_answer("Answered", answer));
}

io::Task<ToolResult> ask_name(Context& context, authority::Arguments) {
  RELAY_CO_TRY(const ElicitResult answer,
               co_await context.elicit(make_form("What is your name?", kNameForm), "user_name"));
  co_return ToolResult::text(fmt::format("Hello, {}!", text_argument(answer.content, "name")));
}

io::Task<ToolResult> ask_model(Context& context, authority::Arguments) {
  RELAY_CO_TRY(
      const protocol::SampleResult answer,
      co_await context.sample(make_sample("What is the capital of France?", 100), "capital_question"));
  co_return ToolResult::text(answer.text());
}

io::Task<ToolResult> ask_roots(Context& context, authority::Arguments) {
  RELAY_CO_TRY(const std::vector<protocol::Root> roots, co_await context.roots("client_roots"));
  std::string text = fmt::format("{} roots:", roots.size());
  for (const protocol::Root& root : roots) text += " " + root.uri;
  co_return ToolResult::text(std::move(text));
}

io::Task<ToolResult> ask_confirmation(Context& context, authority::Arguments) {
  RELAY_CO_TRY(const ElicitResult answer,
               co_await context.elicit(make_form("Please confirm", kConfirmForm), "confirm"));
  co_return ToolResult::text(describe_answer("state-ok", answer));
}

io::Task<ToolResult> ask_three(Context& context, authority::Arguments) {
  std::vector<Ask> asks;
  asks.push_back({make_form("What is your name?", kNameForm), "user_name"});
  asks.push_back({make_sample("Generate a greeting", 50), "greeting"});
  asks.push_back({protocol::RootsRequest{}, "client_roots"});
  RELAY_CO_TRY(auto answers, co_await context.ask_all(std::move(asks)));
  co_return ToolResult::text(fmt::format("{} {}, {} roots",
                                         std::get<protocol::SampleResult>(answers[1]).text(),
                                         text_argument(std::get<ElicitResult>(answers[0]).content, "name"),
                                         std::get<protocol::RootsResult>(answers[2]).roots.size()));
}

io::Task<ToolResult> ask_twice(Context& context, authority::Arguments) {
  RELAY_CO_TRY(const ElicitResult name,
               co_await context.elicit(make_form("Step 1: What is your name?", kNameForm), "step1"));
  protocol::ElicitForm second =
      make_form("Step 2: What is your favorite color?",
                R"({"type":"object","properties":{"color":{"type":"string"}},"required":["color"]})");
  RELAY_CO_TRY(const ElicitResult color, co_await context.elicit(std::move(second), "step2"));
  co_return ToolResult::text(
      fmt::format("{} likes {}", text_argument(name.content, "name"), text_argument(color.content, "color")));
}

// Asks only what the client can answer.
io::Task<ToolResult> ask_what_fits(Context& context, authority::Arguments) {
  std::vector<Ask> asks;
  if (context.client().elicitation_form)
    asks.push_back({make_form("What is your name?", kNameForm), "user_name"});
  if (context.client().sampling) asks.push_back({make_sample("Generate a greeting", 50), "greeting"});
  if (asks.empty()) co_return ToolResult::text("the client can answer nothing");
  RELAY_CO_TRY(const auto answers, co_await context.ask_all(std::move(asks)));
  co_return ToolResult::text(fmt::format("{} answers", answers.size()));
}

io::Task<ToolResult> ask_page(Context& context, authority::Arguments) {
  protocol::ElicitUrl page{"Please sign in", "https://example.com/sign-in", {}};
  RELAY_CO_TRY(const ElicitResult answer, co_await context.elicit(std::move(page), "sign_in"));
  co_return ToolResult::text(describe_answer("Page", answer));
}

}  // namespace

Result<void> add_asking_tools(mcp::Catalogue& catalogue) {
  RELAY_CHECK(catalogue.add_tool(
      describe_tool("test_sampling", "Asks the model",
                    R"({"type":"object","properties":{"prompt":{"type":"string"}},"required":["prompt"]})"),
      sampling));
  RELAY_CHECK(catalogue.add_tool(
      describe_tool("test_elicitation", "Asks the user",
                    R"({"type":"object","properties":{"message":{"type":"string"}},"required":["message"]})"),
      elicitation));
  const std::pair<const char*, mcp::CatalogueToolHandler> tools[] = {
      {"test_elicitation_sep1034_defaults", elicitation_defaults},
      {"test_elicitation_sep1330_enums", elicitation_enums},
      {"test_missing_capability", missing_capability},
      {"test_streaming_elicitation", streaming_elicitation},
      {"test_input_required_result_elicitation", ask_name},
      {"test_input_required_result_sampling", ask_model},
      {"test_input_required_result_list_roots", ask_roots},
      {"test_input_required_result_request_state", ask_confirmation},
      {"test_input_required_result_multiple_inputs", ask_three},
      {"test_input_required_result_multi_round", ask_twice},
      {"test_input_required_result_tampered_state", ask_confirmation},
      {"test_input_required_result_capabilities", ask_what_fits},
      {"ask_page", ask_page},
  };
  for (const auto& [name, handler] : tools)
    RELAY_CHECK(catalogue.add_tool(describe_tool(name, "Asks the client's side while it runs"), handler));
  return {};
}

}  // namespace relay::conformance
