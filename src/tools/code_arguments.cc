#include "tools/code_arguments.h"

#include <fmt/format.h>

namespace relay::tools {
namespace {

std::string text(const json::object& object, std::string_view key) {
  return std::string(json::find_string(object, key).value_or(""));
}

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

Result<runs::RunArguments> read_code_arguments(const json::object& arguments, executors::Language language) {
  runs::RunArguments out;
  out.code = text(arguments, "code");
  out.stdin_text = text(arguments, "stdin");
  if (const json::array* args = json::find_array(arguments, "args"))
    for (const json::value& item : *args) out.args.emplace_back(item.as_string());
  if (const json::object* env = json::find_object(arguments, "env"))
    for (const auto& member : *env) out.env.emplace(member.key(), member.value().as_string());
  if (const auto cwd = json::find_string(arguments, "cwd")) out.cwd = *cwd;
  if (const json::object* packages =
          json::find_object(arguments, language == executors::Language::js ? "npm" : "pip"))
    out.packages = *packages;
  if (const json::object* policy = json::find_object(arguments, "policy")) out.policy = *policy;
  out.session = text(arguments, "session");
  if (json::find_bool(arguments, "reset").value_or(false)) out.session_start = executors::SessionStart::reset;
  if (json::find(arguments, "reset") && out.session.empty())
    return fail(invalid("reset starts a named session anew; give its name in session, or leave reset out"));
  if (const auto timeout = json::find_int(arguments, "timeoutMs"))
    out.timeout = std::chrono::milliseconds(*timeout);
  out.executor = text(arguments, "executor");
  if (const json::array* servers = json::find_array(arguments, "servers")) {
    out.servers.emplace();
    for (const json::value& name : *servers) out.servers->emplace_back(name.as_string());
  }
  return out;
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
