// The .npmrc that relay writes for an installation, made from the user's settings: registries, how to sign in
// to them, which certificates to trust, through which proxy. Everything else (scripts, git, hooks, prefixes)
// stays behind. Pure.
//
// Read as npm reads them: npm_config_* variables before the user's npmrc before the global one; ${NAME} is a
// variable. A project's own .npmrc is not read: an installation is no project.
#pragma once

#include <string>
#include <string_view>

#include "packages/tool_settings.h"

namespace relay::packages {

/// The texts of the user's and of the global npmrc; empty where there is none.
struct NpmrcTexts {
  std::string user;
  std::string global;
};

/// Fails when a registry is no address.
Result<ToolSettings> make_npm_settings(const Environment& environment, const NpmrcTexts& texts);

/// npm_config_userconfig, or ~/.npmrc. Empty: there is no home.
std::string user_npmrc(const Environment& environment);
/// npm_config_globalconfig, or etc/npmrc below npm's prefix, which a setting names or which node is in.
std::string global_npmrc(const Environment& environment, std::string_view user_text, const std::string& node);

}  // namespace relay::packages
