// The admin toolset: server_info, audit_tail and, where agents may confirm, operation_confirm.
#pragma once

#include <filesystem>
#include <memory>

#include "io/thread_pool.h"
#include "pipeline/guarded_backend.h"
#include "tools/server_info.h"

namespace relay::tools {

struct AdminWorld {
  const ServerInfo& info;
  pipeline::Pipeline& pipeline;
  io::ThreadPool& pool;
  std::filesystem::path audit_path;
};

Result<void> add_admin_tools(pipeline::Toolset& toolset, std::shared_ptr<const AdminWorld> world);

}  // namespace relay::tools
