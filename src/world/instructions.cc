#include "world/instructions.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "world/toolset_table.h"

namespace relay::world {
namespace {

using Names = std::vector<std::string>;

constexpr std::size_t kNamesShown = 12;  // of one list: the text is part of every conversation

std::string listed(const Names& names) {
  const auto end = names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kNamesShown));
  std::string text = fmt::format("{}", fmt::join(names.begin(), end, ", "));
  if (names.size() > kNamesShown) text += fmt::format(" and {} more", names.size() - kNamesShown);
  return text;
}

bool is_offered(const config::Config& config, std::string_view tool) {
  const auto found = config.tools.find(std::string(tool));
  return found == config.tools.end() || found->second.enabled;
}

// "run_js or run_py"; empty when programs cannot be run.
std::string code_tools(const config::Config& config) {
  Names names;
  for (const char* tool : {"run_js", "run_py"})
    if (config.has_toolset("code") && is_offered(config, tool)) names.emplace_back(tool);
  return fmt::format("{}", fmt::join(names, " or "));
}

std::string advice(const config::Config& config) {
  std::string text = "Relay offers its tools under one policy.";
  if (const std::string tools = code_tools(config); !tools.empty())
    text += fmt::format(
        " Prefer one {} call that does several steps over many small calls: only what it prints or returns "
        "comes back.",
        tools);
  return text + " Long results are cut; the text says how to read the rest.";
}

std::string mounts(const config::Config& config) {
  if (!config.has_toolset("files") && !config.has_toolset("code")) return {};
  if (config.mounts.empty()) return "No directory of the host is mounted: files are in /tmp and /out.";
  Names names;
  for (const config::MountConfig& mount : config.mounts)
    names.push_back(fmt::format("/host/{} ({})", mount.name, mount.writable ? "rw" : "ro"));
  return fmt::format("Mounts: {}.", listed(names));
}

std::string hosts(const config::Config& config) {
  if (code_tools(config).empty()) return {};
  Names names;
  for (const policy::HostPattern& host : config.policy.run.network.allowed) names.push_back(to_text(host));
  if (names.empty()) return "Programs have no network.";
  return fmt::format("Programs may reach {}.", listed(names));
}

std::string packages(const config::Config& config) {
  Names names;
  if (const json::object* npm = json::find_object(config.npm, "dependencies"))
    for (const auto& member : *npm) names.push_back(fmt::format("{} (npm)", std::string(member.key())));
  if (const json::array* pip = json::find_array(config.pip, "requirements"))
    for (const json::value& item : *pip)
      if (item.is_string()) names.push_back(fmt::format("{} (pip)", json::view(item.get_string())));
  if (names.empty() || code_tools(config).empty()) return {};
  return fmt::format("Installed packages: {}.", listed(names));
}

std::string servers_in_code(const config::Config& config, const std::vector<upstream::ServerSpec>& servers) {
  Names names;
  for (const upstream::ServerSpec& server : servers)
    if (server.enabled && server.in_code()) names.push_back(server.name);
  if (names.empty() || code_tools(config).empty()) return {};
  return fmt::format("MCP servers for programs: {}{}.", listed(names),
                     config.policy.require_servers ? "; a call must name those it uses in \"servers\"" : "");
}

std::string servers_in_list(const config::Config& config, const std::vector<upstream::ServerSpec>& servers) {
  const std::string_view separator = config.gateway_prefix == config::PrefixChoice::none ? "" : "__*";
  Names names;
  for (const upstream::ServerSpec& server : servers)
    if (server.enabled && server.in_tool_list()) names.push_back(fmt::format("{}{}", server.name, separator));
  return names.empty() ? "" : fmt::format("MCP servers in the tool list: {}.", listed(names));
}

std::string mode(const config::Config& config) {
  switch (config.policy.rules.mode) {
    case policy::PolicyMode::open: return {};
    case policy::PolicyMode::guarded: return "Calls that change state need a rule that allows them.";
    case policy::PolicyMode::readonly: return "Only calls that change nothing are allowed.";
  }
  return {};
}

std::string switched_off(const config::Config& config, const std::vector<upstream::ServerSpec>& servers) {
  Names names;
  for (const ToolsetEntry& toolset : toolset_table())
    if (!config.has_toolset(toolset.name)) names.push_back(fmt::format("toolset {}", toolset.name));
  for (const auto& [name, tool] : config.tools)
    if (!tool.enabled) names.push_back(fmt::format("tool {}", name));
  for (const upstream::ServerSpec& server : servers)
    if (!server.enabled) names.push_back(fmt::format("MCP server {}", server.name));
  return names.empty() ? "" : fmt::format("Switched off by the operator: {}.", listed(names));
}

}  // namespace

std::string make_instructions(const config::Config& config,
                              const std::vector<upstream::ServerSpec>& servers) {
  std::string text = advice(config);
  for (const std::string& sentence :
       {mounts(config), hosts(config), packages(config), servers_in_code(config, servers),
        servers_in_list(config, servers), mode(config), switched_off(config, servers)})
    if (!sentence.empty()) text += "\n" + sentence;
  return text;
}

}  // namespace relay::world
