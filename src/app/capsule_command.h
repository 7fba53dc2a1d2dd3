// `relay capsule build|inspect|verify`. Running one is script.cc's business: it needs a world, these do not.
#pragma once

#include "app/options.h"
#include "capsule/commands.h"

namespace relay::app {

/// The exit code: 0 done, 1 the capsule is not sound, 2 the command cannot be carried out.
int run_capsule_command(const Config& config, const CommandOptions& options);

/// Where a capsule lies that was named by its directory or, when it is stored, by its hash.
capsule::CapsuleReadOptions capsule_to_read(const Config& config, const std::filesystem::path& named);

}  // namespace relay::app
