// The real Connect: starts the process of a stdio server, or opens HTTP, with secrets resolved at that moment
// and for nobody else.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include "io/thread_pool.h"
#include "launch/child_environment.h"
#include "launch/process_count.h"
#include "net/http_client.h"
#include "sandbox/control_group.h"
#include "secrets/redactor.h"
#include "upstream/fleet.h"
#include "upstream/peer_connection.h"

namespace relay::upstream {

struct ConnectorParts {
  io::Loop executor;
  net::HttpClient& http;
  io::ThreadPool& pool;
  protocol::Implementation self;
  secrets::ResolveSecrets resolve;
  std::shared_ptr<secrets::Redactor> redactor;
  std::shared_ptr<launch::ProcessCount> heads;
  launch::Environment environment;  // ours
  std::filesystem::path cage_program;
  std::function<sandbox::GroupSite()> find_group_site = {};    // for cages; none: rlimits alone
  std::function<void(launch::CageSpec&)> hide_own_files = {};  // before each start of a cage, on the pool
};

Connect make_connector(ConnectorParts parts);

}  // namespace relay::upstream
