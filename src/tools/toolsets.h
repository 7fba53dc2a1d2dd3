// Toolsets: how each toolset is opened from the parts of a running Relay. A toolset is one function of this
// form, in its own folder, and one line in the table of src/world/toolset_table.cc.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "io/thread_pool.h"
#include "pipeline/guarded_backend.h"
#include "runs/run_code.h"
#include "tools/code_tools.h"
#include "tools/server_info.h"
#include "vfs/workspace.h"

namespace relay::tools {

/// What toolsets are made from. Everything outlives them.
struct ToolsetParts {
  io::Loop loop;
  io::ThreadPool& pool;
  io::ThreadPool& search_pool;
  vfs::Trees& trees;
  pipeline::Pipeline& pipeline;
  const ServerInfo& info;
  std::filesystem::path audit_path;
  std::shared_ptr<const runs::RunDependencies> runs;  // null without the toolset `code`
  ServersForCode code_servers = ServersForCode::none;
  protocol::EventSink tell_clients;
};

/// The tools, and what else the toolset offers, such as resources that change.
using Providers = std::vector<std::unique_ptr<pipeline::Provider>>;
using OpenToolset = Result<Providers> (*)(const ToolsetParts& parts);

Result<Providers> open_code_toolset(const ToolsetParts& parts);
Result<Providers> open_files_toolset(const ToolsetParts& parts);
Result<Providers> open_admin_toolset(const ToolsetParts& parts);

}  // namespace relay::tools
