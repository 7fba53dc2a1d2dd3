// Where npm, pip and the runtimes are, as the resolvers of dependencies want to know it.
#pragma once

#include <filesystem>

#include "config/config.h"
#include "packages/packages.h"

namespace relay::world {

/// Where relay itself is: relay-zygote and the runtimes are beside it.
std::filesystem::path program_directory();

/// npm and pip are the user's own; of the user's configuration they get the registries and indexes. The
/// cages' group site and the log are the caller's to add. Fails when the configured lockfile cannot be read.
Result<packages::PackageOptions> package_options(const config::Config& config);

}  // namespace relay::world
