// run_js and run_py: from the arguments of a call to a capsule, a run and a result.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "pipeline/guarded_backend.h"
#include "runs/run_code.h"

namespace relay::tools {

/// Which MCP servers a run may call when its call names none.
enum class ServersByDefault : std::uint8_t { all, none };

/// Whether the configuration that Relay started with has MCP servers that programs can call.
enum class ServersForCode : std::uint8_t { none, some };
/// Whether a browser tab can attach and run programs.
enum class BrowserTabs : std::uint8_t { cannot_attach, can_attach };

/// What the configuration decides of run_js and run_py.
struct CodeToolFacts {
  std::int64_t timeout_ms = 0;
  std::vector<vfs::MountSpec> mounts;
  ServersByDefault servers = ServersByDefault::all;
  ServersForCode code_servers = ServersForCode::none;
  BrowserTabs tabs = BrowserTabs::cannot_attach;
};

/// The tool as clients are told about it.
Result<protocol::Tool> describe_code_tool(executors::Language language, const CodeToolFacts& facts);

Result<void> add_code_tools(pipeline::Toolset& toolset, std::shared_ptr<const runs::RunDependencies> runs,
                            ServersForCode code_servers);

}  // namespace relay::tools
