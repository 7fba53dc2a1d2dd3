// `relay mcp list`: the servers of the configuration, without a value that may be secret.
#include <fmt/format.h>

#include "cli/mcp_command.h"
#include "cli/text_table.h"
#include "config/config_upstreams.h"
#include "policy/redaction.h"

namespace relay::cli {
namespace {

using upstream::ServerSpec;

json::array names_of(const std::map<std::string, std::string>& values) {
  json::array names;
  for (const auto& [name, value] : values) names.emplace_back(name);
  return names;
}

json::object to_json(const ServerSpec& spec) {
  json::object out{{"name", spec.name},
                   {"transport", std::string(config::name_of(spec.transport))},
                   {"expose", std::string(config::name_of(spec.expose))},
                   {"enabled", spec.enabled},
                   {"autostart", spec.autostart},
                   {"sandbox", spec.cage.has_value()},
                   {"description", spec.description}};
  if (spec.transport == upstream::ServerTransport::stdio) {
    out["command"] = spec.command;
    const std::vector<std::string> args = policy::redact_arguments(spec.command, spec.args);
    out["args"] = json::array(args.begin(), args.end());
    out["cwd"] = spec.cwd;
    out["env"] = names_of(spec.env);
  } else {
    out["endpoint"] = describe_server(spec);
    out["headers"] = names_of(spec.headers);
  }
  return out;
}

}  // namespace

int run_mcp_list(const CommandOptions& options, const config::Config& config) {
  if (options.mcp.json) {
    json::array servers;
    for (const ServerSpec& spec : config.mcps) servers.push_back(to_json(spec));
    fmt::print("{}\n", json::write_pretty(servers));
    return 0;
  }
  if (config.mcps.empty()) {
    fmt::print(
        "no servers yet; `relay mcp add` adds one, `relay mcp import` looks at what other programs have\n");
    return 0;
  }
  TextTable table({"NAME", "TRANSPORT", "EXPOSE", "STATE", "WHAT"});
  for (const ServerSpec& spec : config.mcps)
    table.add({spec.name, std::string(config::name_of(spec.transport)),
               std::string(config::name_of(spec.expose)),
               !spec.enabled ? "disabled"
               : spec.cage   ? "enabled, sandboxed"
                             : "enabled",
               describe_server(spec)});
  fmt::print("{}", table.text());
  return 0;
}

}  // namespace relay::cli
