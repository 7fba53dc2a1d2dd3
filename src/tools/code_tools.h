// run_js and run_py: from the arguments of a call to a capsule, a run and a result.
#pragma once

#include <memory>
#include <string>

#include "pipeline/guarded_backend.h"
#include "runs/run_code.h"

namespace relay::tools {

Result<void> add_code_tools(pipeline::Toolset& toolset, std::shared_ptr<const runs::RunDependencies> runs);

}  // namespace relay::tools
