// Endpoints: everything `relay serve` answers over HTTP, in one table.
#pragma once

#include <optional>
#include <string>

#include "capsule/store.h"
#include "codemode/rpc_endpoint.h"
#include "io/thread_pool.h"
#include "mcp/server.h"
#include "mcp/server_card.h"
#include "mcp/sse_legacy.h"
#include "mcp/streamable_http.h"
#include "metrics/registry.h"
#include "net/router.h"
#include "web/home.h"

namespace relay::app {

/// Whether people get a page at / or programs a status.
enum class HomeForm : std::uint8_t { page, status };

/// What requests are answered from. All outlive the endpoints.
struct EndpointSources {
  mcp::Server& server;
  codemode::RpcEndpoint& code_mode;
  capsule::CapsuleStore& capsules;
  const metrics::Registry& metrics;
  io::ThreadPool& pool;
  HomeForm home;
};

class Endpoints {
 public:
  explicit Endpoints(const EndpointSources& sources);

  /// Before the server is opened.
  void add_to(net::Router& router);
  /// Once the address is known; requests that come earlier are told to wait (503).
  void set_facts(const web::HomeFacts& facts);

 private:
  using Answer = io::Task<void> (Endpoints::*)(net::HttpExchange& exchange, const net::Routed& routed);
  struct Row {
    const char* method;
    const char* path;
    net::Access access;
    Answer answer;
  };
  static const Row kTable[];

  io::Task<void> mcp(net::HttpExchange& exchange, const net::Routed& routed);
  io::Task<void> sse_stream(net::HttpExchange& exchange, const net::Routed& routed);
  io::Task<void> sse_message(net::HttpExchange& exchange, const net::Routed& routed);
  io::Task<void> home(net::HttpExchange& exchange, const net::Routed& routed);
  io::Task<void> health(net::HttpExchange& exchange, const net::Routed& routed);
  io::Task<void> metrics(net::HttpExchange& exchange, const net::Routed& routed);
  io::Task<void> capsule_file(net::HttpExchange& exchange, const net::Routed& routed);
  io::Task<void> server_card(net::HttpExchange& exchange, const net::Routed& routed);
  io::Task<void> server_catalogue(net::HttpExchange& exchange, const net::Routed& routed);

  EndpointSources sources_;
  mcp::StreamableHttp http_;
  mcp::SseLegacy sse_;
  std::optional<mcp::ServerCard> card_;
  std::string home_;  // rendered once
};

}  // namespace relay::app
