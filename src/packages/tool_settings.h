// ToolSettings: what npm or pip is told of the user's own configuration, as values. npm_settings.h and
// pip_settings.h make them; nothing else of that configuration reaches the tool. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "launch/cage_spec.h"

namespace relay::packages {

using Environment = std::map<std::string, std::string>;

struct ToolSettings {
  std::string text;                // the .npmrc or pip.conf that the tool gets; may hold credentials
  std::vector<std::string> hosts;  // "registry.npmjs.org:443": where packages come from, exact, with ports
  std::vector<std::string> paths;  // certificates, keys, directories of wheels: shown to the tool
  std::string proxy;               // that the settings name instead of the environment; empty: none
  std::string direct;              // and the hosts that need none
};

/// "https://user@registry.example/path" is "registry.example:443". Fails with `what` in the sentence.
Result<std::string> host_of_url(std::string_view url, std::string_view what);
/// Without doubles.
void add_once(std::vector<std::string>& list, std::string text);

/// What a cage shows and reaches for these settings. `further` are the hosts that relay's configuration adds:
/// a name with a port is vouched for, as a registry is. Proxies are those of the settings, or of the
/// environment.
Result<launch::CageSpec> make_tool_cage(const ToolSettings& settings, const std::vector<std::string>& further,
                                        const Environment& environment);

/// The value of a variable; empty when there is none.
std::string variable(const Environment& environment, const std::string& name);
/// "~/x" is below HOME; other relative paths are below `base`. Without a slash at its end.
std::string absolute_path(std::string_view path, const std::string& base, const Environment& environment);

}  // namespace relay::packages
