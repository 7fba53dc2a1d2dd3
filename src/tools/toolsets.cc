#include "tools/toolsets.h"

#include <algorithm>
#include <thread>

#include "tools/admin_tools.h"
#include "tools/code_tools.h"
#include "tools/file_subscriptions.h"
#include "tools/files_tools.h"

namespace relay::tools {

Result<Providers> open_code_toolset(const ToolsetParts& parts) {
  if (!parts.runs) return fail(internal("the toolset code needs a place to run programs"));
  auto tools = std::make_unique<pipeline::Toolset>("code");
  RELAY_CHECK(add_code_tools(*tools, parts.runs, parts.code_servers));
  Providers providers;
  providers.push_back(std::move(tools));
  return providers;
}

Result<Providers> open_files_toolset(const ToolsetParts& parts) {
  auto searcher = std::make_shared<search::Searcher>(std::max(1U, std::thread::hardware_concurrency()) - 1);
  auto files = std::shared_ptr<const FilesWorld>(new FilesWorld{
      parts.trees, parts.pool, std::move(searcher), parts.search_pool, parts.pipeline.results(),
      [&pipeline = parts.pipeline](const authority::Call& call) { return pipeline.engine().decide(call); }});
  auto tools = std::make_unique<pipeline::Toolset>("files");
  RELAY_CHECK(add_files_tools(*tools, files));
  RELAY_TRY(auto subscriptions, FileSubscriptions::open(files, parts.loop, parts.tell_clients));
  Providers providers;
  providers.push_back(std::move(subscriptions));
  providers.push_back(std::move(tools));
  return providers;
}

Result<Providers> open_admin_toolset(const ToolsetParts& parts) {
  auto world = std::shared_ptr<const AdminWorld>(
      new AdminWorld{parts.info, parts.pipeline, parts.pool, parts.audit_path});
  auto tools = std::make_unique<pipeline::Toolset>("admin");
  RELAY_CHECK(add_admin_tools(*tools, std::move(world)));
  Providers providers;
  providers.push_back(std::move(tools));
  return providers;
}

}  // namespace relay::tools
