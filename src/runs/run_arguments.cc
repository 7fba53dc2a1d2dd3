#include "runs/run_arguments.h"

namespace relay::runs {
namespace {

std::string text(const json::object& object, std::string_view key) {
  return std::string(json::find_string(object, key).value_or(""));
}

}  // namespace

Result<RunArguments> read_run_arguments(const json::object& arguments, executors::Language language) {
  RunArguments out;
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

}  // namespace relay::runs
