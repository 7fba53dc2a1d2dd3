#include <fmt/format.h>

#include "fixtures.h"

namespace relay::conformance {
namespace {

using protocol::PromptResult;
using serving::Context;

PromptResult say(std::string text) {
  PromptResult result;
  result.messages.push_back({"user", protocol::text_content(std::move(text))});
  return result;
}

io::Task<PromptResult> simple(Context&, json::object) {
  co_return say("This is a simple prompt for testing.");
}

io::Task<PromptResult> with_arguments(Context&, json::object arguments) {
  co_return say(fmt::format("Prompt with arguments: arg1='{}', arg2='{}'", text_argument(arguments, "arg1"),
                            text_argument(arguments, "arg2")));
}

io::Task<PromptResult> with_resource(Context&, json::object arguments) {
  PromptResult result;
  protocol::EmbeddedResource embedded{{text_argument(arguments, "resourceUri"),
                                       "text/plain",
                                       std::string("Embedded resource content for testing."),
                                       {}},
                                      {}};
  result.messages.push_back({"user", std::move(embedded)});
  result.messages.push_back({"user", protocol::text_content("Please process the embedded resource above.")});
  co_return result;
}

io::Task<PromptResult> with_image(Context&, json::object) {
  PromptResult result;
  result.messages.push_back({"user", protocol::image_content(png_bytes(), "image/png")});
  result.messages.push_back({"user", protocol::text_content("Please analyze the image above.")});
  co_return result;
}

io::Task<PromptResult> with_question(Context& context, json::object) {
  protocol::ElicitForm form =
      make_form("What context should the prompt use?",
                R"({"type":"object","properties":{"context":{"type":"string"}},"required":["context"]})");
  RELAY_CO_TRY(const protocol::ElicitResult answer, co_await context.elicit(std::move(form), "user_context"));
  co_return say("Use this context: " + text_argument(answer.content, "context"));
}

protocol::Prompt describe_prompt(std::string name, std::string description,
                                 std::vector<protocol::PromptArgument> arguments = {}) {
  protocol::Prompt prompt;
  prompt.name = std::move(name);
  prompt.description = std::move(description);
  prompt.arguments = std::move(arguments);
  return prompt;
}

std::vector<std::string> complete_arg1(const protocol::CompletionRequest& request) {
  std::vector<std::string> values;
  for (const char* word : {"paris", "park", "party", "test1", "test2"})
    if (std::string_view(word).starts_with(request.value)) values.emplace_back(word);
  return values;
}

}  // namespace

void add_prompts(mcp::Catalogue& catalogue) {
  catalogue.add_prompt(describe_prompt("test_simple_prompt", "A prompt without arguments"), simple);
  catalogue.add_prompt(describe_prompt("test_prompt_with_arguments", "A prompt with two arguments",
                                       {{"arg1", "", "First test argument", true},
                                        {"arg2", "", "Second test argument", true}}),
                       with_arguments);
  catalogue.add_prompt(describe_prompt("test_prompt_with_embedded_resource", "A prompt with a resource",
                                       {{"resourceUri", "", "URI of the resource to embed", true}}),
                       with_resource);
  catalogue.add_prompt(describe_prompt("test_prompt_with_image", "A prompt with an image"), with_image);
  catalogue.add_prompt(describe_prompt("test_input_required_result_prompt", "A prompt that asks first"),
                       with_question);
  catalogue.add_completer("test_prompt_with_arguments", "arg1", complete_arg1);
}

}  // namespace relay::conformance
