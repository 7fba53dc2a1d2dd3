// The pip.conf that relay writes for a download, made from the user's settings: indexes, directories of
// wheels, certificates, the proxy. Options that change what pip does (targets, builds, plugins) stay behind.
// Pure.
//
// Read as pip reads them: PIP_* variables before PIP_CONFIG_FILE before the file of the Python installation
// before the user's before the machine's; in a file [download] before [global].
#pragma once

#include <string>
#include <vector>

#include "packages/tool_settings.h"

namespace relay::packages {

/// `texts` are the files of pip_config_files(), in its order; empty where there is none.
Result<ToolSettings> make_pip_settings(const Environment& environment, const std::vector<std::string>& texts);

/// Where pip looks, the weakest first. `prefix` is Python's own directory. With PIP_CONFIG_FILE=/dev/null
/// none.
std::vector<std::string> pip_config_files(const Environment& environment, const std::string& prefix);

}  // namespace relay::packages
