// POST /mcps-rpc and GET /mcps/:name/tools: upstream tools for runs that go on in a browser
// (docs/formats/mcps_rpc.md).
//
// The run's token is the permission, in the header X-Relay-Run-Token; without one nothing is answered. The
// routes are open in the router's sense: a capsule has no other credential, and Host and Origin are checked
// for every route.
#pragma once

#include "codemode/run_tokens.h"
#include "net/router.h"

namespace relay::codemode {

class RpcEndpoint {
 public:
  explicit RpcEndpoint(RunTokens& tokens) : tokens_(tokens) {}
  /// Must outlive the router.
  void add_to(net::Router& router);

 private:
  io::Task<void> serve(net::HttpExchange& exchange);
  io::Task<void> list_tools(net::HttpExchange& exchange, std::string server);
  io::Task<void> answer(net::HttpExchange& exchange, std::shared_ptr<RunServers> servers, std::string op,
                        std::string args_text);
  [[nodiscard]] std::shared_ptr<RunServers> run_of(const net::HttpRequest& request) const;

  RunTokens& tokens_;
};

/// An operation and its arguments, from any of the forms that a body may have.
struct RpcCall {
  std::string op;
  std::string args;  // JSON text of an object
};
Result<RpcCall> parse_rpc_call(std::string_view body);

}  // namespace relay::codemode
