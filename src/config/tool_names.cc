#include "config/tool_names.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/nearest_name.h"

namespace relay::config {
namespace {

// All toolsets together: a setting for a tool of a toolset that is off is no mistake. The whole-program test
// of the configuration compares this list with tools/list.
const std::vector<std::string>& own_tools() {
  static const std::vector<std::string> kNames{"run_js",      "run_py",     "read",
                                               "write",       "edit",       "search",
                                               "server_info", "audit_tail", "operation_confirm"};
  return kNames;
}

// Which tools a server has is known when it has been asked. Until then its prefix says whose tool a name is;
// without prefixes, any name may be one of its tools.
bool may_be_exposed(const Config& config, std::string_view name) {
  return std::ranges::any_of(config.mcps, [&](const upstream::ServerSpec& spec) {
    if (!spec.in_tool_list()) return false;
    return config.gateway_prefix == PrefixChoice::none || name.starts_with(spec.name + "__");
  });
}

}  // namespace

void check_tool_names(const Config& config, std::vector<ConfigProblem>& problems) {
  for (const auto& [name, settings] : config.tools) {
    if (std::ranges::find(own_tools(), name) != own_tools().end() || may_be_exposed(config, name)) continue;
    const std::string near = nearest_name(name, own_tools());
    problems.push_back(
        {fmt::format("$.tools.{}", name),
         near.empty() ? fmt::format("there is no such tool; Relay has {}, and a server in the tool list "
                                    "adds <server>__<tool>",
                                    fmt::join(own_tools(), ", "))
                      : fmt::format("there is no such tool; did you mean \"{}\"?", near)});
  }
}

}  // namespace relay::config
