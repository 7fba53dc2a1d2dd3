// Endpoints: everything `relay serve` answers over HTTP, in one table.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "app/world.h"
#include "mcp/server.h"
#include "mcp/server_card.h"
#include "mcp/sse_legacy.h"
#include "mcp/streamable_http.h"
#include "net/router.h"
#include "web/home.h"

namespace relay::app {

class Endpoints {
 public:
  Endpoints(mcp::Server& server, World& world);

  /// Before the server is opened.
  void add_to(net::Router& router);
  /// Once the address is known; requests that come earlier are told to wait (503).
  void set_facts(web::HomeFacts facts);

 private:
  io::Task<void> home(net::HttpExchange& exchange);
  io::Task<void> capsule_file(net::HttpExchange& exchange, const net::Routed& routed);

  mcp::Server& server_;
  World& world_;
  bool ui_;
  mcp::StreamableHttp http_;
  mcp::SseLegacy sse_;
  std::optional<mcp::ServerCard> card_;
  std::string home_;  // rendered once
};

}  // namespace relay::app
