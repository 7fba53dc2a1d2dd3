// `relay capsule build|inspect|verify`. Running one is script.cc's business: it needs a world, these do not.
#pragma once

#include "capsule/commands.h"
#include "cli/options.h"

namespace relay::cli {

/// The exit code: 0 done, 1 the capsule is not sound, 2 the command cannot be carried out.
int run_capsule_command(const config::Config& config, const CommandOptions& options);

/// Where a capsule lies that was named by its directory or, when it is stored, by its hash.
capsule::CapsuleReadOptions capsule_to_read(const config::Config& config, const std::filesystem::path& named);

}  // namespace relay::cli
