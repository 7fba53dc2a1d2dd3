// `relay capsule build|inspect|verify`. Running one is script.cc's business. Reading needs no world; building
// needs one when packages are installed.
#pragma once

#include "base/log.h"
#include "capsule/commands.h"
#include "cli/options.h"

namespace relay::cli {

/// The exit code: 0 done, 1 the capsule is not sound, 2 the command cannot be carried out.
int run_capsule_command(const config::Config& config, const CommandOptions& options);
/// The same for `build`. Where packages are installed for the capsule, that is a recorded call.
int run_capsule_build(const config::Config& config, const CommandOptions& options, Log& log);

/// Where a capsule lies that was named by its directory or, when it is stored, by its hash.
capsule::CapsuleReadOptions capsule_to_read(const config::Config& config, const std::filesystem::path& named);

}  // namespace relay::cli
