// The `mcps` block: from JSON that the schema has accepted to ServerSpecs, and what no schema can say about them.
#pragma once

#include <filesystem>
#include <vector>

#include "app/config.h"
#include "base/json.h"
#include "upstream/server_spec.h"

namespace relay::app {

/// `entry` is complete (defaults filled in). Relative paths are taken from `root`, the directory of the file.
upstream::ServerSpec read_server_spec(const json::object& entry, const std::filesystem::path& root);

/// What the keys of one entry, and the entries together, must agree on.
void check_server_specs(const Config& config, std::vector<ConfigProblem>& problems);

/// Every upstream server of the configuration, in its order, disabled ones too: what Fleet::apply takes.
std::vector<upstream::ServerSpec> specs_of(const Config& config);

}  // namespace relay::app
