// Where Relay keeps what it believes: keys, tokens, secrets, the audit log, what it remembers of upstream
// servers, approvals. None of that lies in the project, because what lies there is read and written by
// others.
//
//   $XDG_STATE_HOME/relay/<project>   (default ~/.local/state/relay/<project>), mode 0700
//   --state DIR, RELAY_STATE          instead
//
// <project> is the name of the configuration's directory and a hash of its real path.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "config/config.h"

namespace relay::config {

/// `root` is the directory of the configuration. Fails when there is no home directory and none was named.
Result<std::filesystem::path> find_state_directory(const ConfigSources& sources,
                                                   const std::filesystem::path& root);
/// HOME, or what the system says of this user. Empty: there is none.
std::filesystem::path home_directory(const ConfigSources& sources);
/// `root`/.relay, or `state`/project where this user cannot write to the project.
std::filesystem::path find_project_directory(const std::filesystem::path& root,
                                             const std::filesystem::path& state);
/// "shop-3f9a0c1be2d4".
std::string project_name(const std::filesystem::path& root);

/// Makes the state directory with mode 0700, and migrates to it. Blocks.
Result<std::vector<std::string>> open_state_directory(const Config& config);

/// Moves what an older Relay kept in `.relay/` to the state directory: the keys,
/// the token, the audit log with its older parts, and what is remembered of upstream servers. Nothing is
/// overwritten; what is there already stays where it is. Gives the names that were moved. Blocks.
Result<std::vector<std::string>> migrate_state(const Config& config);

/// Makes the directory if needed and writes a .gitignore that covers all of the project directory, and
/// config.schema.json, where "$schema" of `relay init` points. Blocks.
Result<void> fill_project_directory(const std::filesystem::path& project);

/// Makes the project directory and fills it. Blocks.
Result<void> open_project_directory(const Config& config);

/// The files and directories that no tool, guest, resource or cage may see, wherever they lie. "name*" is
/// every name with that beginning. The last one is `.relay/`: its workspaces belong to clients one by one.
std::vector<std::filesystem::path> private_paths(const Config& config);

}  // namespace relay::config
