// `relay mcp list`: the servers of the configuration, without a value that may be secret.
#include <map>

#include <fmt/format.h>

#include "app/status_socket.h"
#include "cli/mcp_command.h"
#include "cli/status.h"
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

// By server, as the first Relay that runs for this project sees it.
std::map<std::string, json::object> find_health(const config::Config& config) {
  std::map<std::string, json::object> health;
  for (const app::RunningRelay& relay : app::find_running(config.state))
    for (const json::object& server : servers_of(relay)) {
      const auto name = json::find_string(server, "name");
      if (name) health.try_emplace(std::string(*name), server);
    }
  return health;
}

std::string health_text(const std::map<std::string, json::object>& health, const std::string& name) {
  const auto found = health.find(name);
  return found == health.end() ? "-" : std::string(json::find_string(found->second, "state").value_or("-"));
}

}  // namespace

int run_mcp_list(const CommandOptions& options, const config::Config& config) {
  const std::map<std::string, json::object> health = find_health(config);
  if (options.mcp.json) {
    json::array servers;
    for (const ServerSpec& spec : config.mcps) {
      json::object server = to_json(spec);
      const auto found = health.find(spec.name);
      server["health"] = found == health.end() ? json::value() : json::value(found->second);
      servers.push_back(std::move(server));
    }
    fmt::print("{}\n", json::write_pretty(servers));
    return 0;
  }
  if (config.mcps.empty()) {
    fmt::print(
        "no servers yet; `relay mcp add` adds one, `relay mcp import` looks at what other programs have\n");
    return 0;
  }
  TextTable table({"NAME", "TRANSPORT", "EXPOSE", "STATE", "HEALTH", "WHAT"});
  for (const ServerSpec& spec : config.mcps)
    table.add({spec.name, std::string(config::name_of(spec.transport)),
               std::string(config::name_of(spec.expose)),
               !spec.enabled ? "disabled"
               : spec.cage   ? "enabled, sandboxed"
                             : "enabled",
               health_text(health, spec.name), describe_server(spec)});
  fmt::print("{}", table.text());
  if (health.empty()) fmt::print("health is known while Relay runs; `relay mcp test` tries servers now\n");
  return 0;
}

}  // namespace relay::cli
