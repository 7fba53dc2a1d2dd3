// The "npm" or "pip" block that --npm, --pip and --wheel stand for, as run_js and run_py take it.
#pragma once

#include "base/json.h"
#include "capsule/builder.h"
#include "cli/options.h"

namespace relay::cli {

json::object package_block(const CommandOptions& options, capsule::Language language);

}  // namespace relay::cli
