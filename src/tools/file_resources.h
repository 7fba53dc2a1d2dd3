// Files as MCP resources: relay://files/{path} reads any file of the caller's tree; the mounts and the files
// that runs left in /out are listed. file_subscriptions.h tells when they change.
#pragma once

#include <memory>
#include <vector>

#include "authority/caller.h"
#include "pipeline/guarded_backend.h"
#include "tools/files_tools.h"

namespace relay::tools {

/// The template, and one resource for each mount and for /tmp and /out.
void add_file_resources(pipeline::Toolset& toolset, std::shared_ptr<const FilesWorld> world);

/// The files in the caller's /out, up to limits::kListedOutputs.
io::Task<std::vector<protocol::Resource>> list_outputs(const FilesWorld& world,
                                                       const authority::Caller& caller);

}  // namespace relay::tools
