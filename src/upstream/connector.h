// The real Connect: starts the process of a stdio server, or opens HTTP, with secrets resolved at that moment
// and for nobody else.
#pragma once

#include <filesystem>
#include <memory>

#include "io/thread_pool.h"
#include "net/http_client.h"
#include "upstream/child_environment.h"
#include "upstream/fleet.h"
#include "upstream/peer_connection.h"
#include "upstream/process_count.h"
#include "upstream/redactor.h"

namespace relay::upstream {

struct ConnectorParts {
  io::Loop executor;
  net::HttpClient& http;
  io::ThreadPool& pool;
  protocol::Implementation self;
  ResolveSecrets resolve;
  std::shared_ptr<Redactor> redactor;
  std::shared_ptr<ProcessCount> heads;
  Environment environment;  // ours
  std::filesystem::path cage_program;
};

Connect make_connector(ConnectorParts parts);

}  // namespace relay::upstream
