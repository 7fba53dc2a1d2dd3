#include "tools/code_arguments.h"

#include <fmt/format.h>

namespace relay::tools {
namespace {

std::string shown(const json::value& value) {
  return value.is_string() ? std::string(json::view(value.get_string())) : json::write(value);
}

// The schemas are sent with every tool list, so they say what a model needs and no more. What has a word to
// it is explained at run_js; run_py is described as "like run_js".
#define RELAY_CODE_SCHEMA(packages, of_session, of_policy, of_servers)                                       \
  R"({"type":"object","required":["code"],"additionalProperties":false,"properties":{)"                      \
  R"("code":{"type":"string"},"stdin":{"type":"string"},"args":{"type":"array","items":{"type":"string"}},)" \
  R"("env":{"type":"object","additionalProperties":{"type":"string"}},"cwd":{"type":"string"},)" packages    \
  R"("session":{"type":"string","maxLength":64)" of_session R"(},"reset":{"type":"boolean"},)"               \
  R"("timeoutMs":{"type":"integer","minimum":1},"policy":{"type":"object")" of_policy                        \
  "},"                                                                                                       \
  R"("servers":{"type":"array","items":{"type":"string"})" of_servers                                        \
  R"(},"executor":{"enum":["local","browser"]}}})"

constexpr std::string_view kJsSchema = RELAY_CODE_SCHEMA(
    R"("npm":{"type":"object","properties":{"dependencies":{"type":"object","additionalProperties":{"type":"string"}}}},)",
    R"(,"description":"keep variables for the next call of that name")",
    R"(,"description":"narrower network, filesystem, limits")",
    R"(,"description":"MCP servers it may call")");
constexpr std::string_view kPySchema = RELAY_CODE_SCHEMA(
    R"("pip":{"type":"object","properties":{"requirements":{"type":"array","items":{"type":"string"}},"wheelUrls":{"type":"array","items":{"type":"string"}}}},)",
    "", "", "");
#undef RELAY_CODE_SCHEMA

constexpr std::string_view kOutputSchema =
    R"({"type":"object","properties":{"exitCode":{"type":"integer"},"stdout":{"type":"string"},"stderr":{"type":"string"},"value":{}}})";

}  // namespace

std::string_view code_input_schema(executors::Language language) {
  switch (language) {
    case executors::Language::js: return kJsSchema;
    case executors::Language::py: return kPySchema;
  }
  return kJsSchema;
}

std::string_view code_output_schema() {
  return kOutputSchema;
}

std::string code_policy_text(const json::object& arguments) {
  std::string out;
  for (const std::string_view key : {"code", "stdin"})
    if (const auto part = json::find_string(arguments, key)) out.append(*part).push_back('\n');
  for (const std::string_view key : {"args", "env", "npm", "pip", "servers"})
    if (const json::value* part = json::find(arguments, key)) out.append(json::write(*part)).push_back('\n');
  return out;
}

std::vector<authority::CallField> code_fields(const json::object& arguments) {
  std::vector<authority::CallField> fields;
  for (const std::string_view key : {"code", "stdin", "cwd"})
    if (const auto part = json::find_string(arguments, key))
      fields.push_back({std::string(key), std::string(*part)});
  for (const std::string_view key : {"args", "servers"})
    if (const json::array* items = json::find_array(arguments, key))
      for (const json::value& item : *items) fields.push_back({std::string(key), shown(item)});
  for (const std::string_view key : {"env", "npm", "pip"})
    if (const json::object* members = json::find_object(arguments, key))
      for (const auto& member : *members)
        fields.push_back(
            {std::string(key), fmt::format("{}={}", std::string(member.key()), shown(member.value()))});
  return fields;
}

}  // namespace relay::tools
