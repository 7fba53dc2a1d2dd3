// The `mcps` block: from JSON that the schema has accepted to ServerSpecs, and what no schema can say about
// them.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "config/config.h"
#include "upstream/server_spec.h"

namespace relay::config {

/// `entry` is complete (defaults filled in). Relative paths are taken from `root`, the directory of the file.
upstream::ServerSpec read_server_spec(const json::object& entry, const std::filesystem::path& root);

/// The entry that makes this spec: only what differs from the defaults.
json::object entry_of(const upstream::ServerSpec& spec);

/// What the keys of one entry, and the entries together, must agree on.
void check_server_specs(const Config& config, std::vector<ConfigProblem>& problems);

// As they are written in the configuration.
std::string_view name_of(upstream::ServerTransport transport);
std::string_view name_of(upstream::Expose expose);
/// Anything unknown is `code`: the schema has refused it before.
upstream::Expose expose_of(std::string_view name);

/// Every upstream server of the configuration, in its order, disabled ones too: what Fleet::apply takes.
std::vector<upstream::ServerSpec> specs_of(const Config& config);

}  // namespace relay::config
