#include "packages/tool_settings.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "packages/tool_run.h"
#include "policy/host_match.h"

namespace relay::packages {
namespace {

Result<launch::OutsideProxies> outside_of(const ToolSettings& settings, const Environment& environment) {
  RELAY_TRY(launch::OutsideProxies proxies, launch::parse_outside_proxies(environment));
  if (!settings.proxy.empty()) {
    RELAY_TRY(const launch::OutsideProxy proxy, launch::parse_outside_proxy(settings.proxy));
    proxies.for_tunnels = proxies.for_requests = proxy;
  }
  if (!settings.direct.empty()) proxies.direct = launch::split_direct_hosts(settings.direct);
  return proxies;
}

}  // namespace

Result<std::string> host_of_url(std::string_view url, std::string_view what) {
  const auto target = policy::parse_target(url);
  if (!target)
    return fail(
        dependency_error(fmt::format("{} is no http or https address: {}", what, target.error().message)));
  return to_text(policy::HostPattern{policy::HostPattern::Kind::exact, target->host.name, target->port});
}

void add_once(std::vector<std::string>& list, std::string text) {
  if (std::ranges::find(list, text) == list.end()) list.push_back(std::move(text));
}

Result<launch::CageSpec> make_tool_cage(const ToolSettings& settings, const std::vector<std::string>& further,
                                        const Environment& environment) {
  launch::CageSpec cage;
  cage.hosts = cage.private_hosts = settings.hosts;
  for (const std::string& text : further) {
    RELAY_TRY(const policy::HostPattern pattern, policy::parse_host_pattern(text));
    add_once(cage.hosts, to_text(pattern));
    if (pattern.kind == policy::HostPattern::Kind::exact && pattern.port)
      add_once(cage.private_hosts, to_text(pattern));
  }
  for (const std::string& path : settings.paths) add_once(cage.read, path);
  auto outside = outside_of(settings, environment);
  if (!outside)
    return fail(
        dependency_error(fmt::format("the proxy settings cannot be used: {}", outside.error().message)));
  cage.outside = std::move(*outside);
  return cage;
}

std::string variable(const Environment& environment, const std::string& name) {
  const auto found = environment.find(name);
  return found == environment.end() ? std::string() : found->second;
}

std::string absolute_path(std::string_view path, const std::string& base, const Environment& environment) {
  std::filesystem::path whole(path);
  if (path == "~" || path.starts_with("~/"))
    whole = std::filesystem::path(variable(environment, "HOME")) /
            std::string(path.substr(std::min<std::size_t>(2, path.size())));
  std::string text = (std::filesystem::path(base) / whole).lexically_normal().string();
  while (text.size() > 1 && text.ends_with('/')) text.pop_back();
  return text;
}

}  // namespace relay::packages
