#include "codemode/rpc_endpoint.h"

#include <fmt/format.h>

#include "protocol/json_writer.h"

namespace relay::codemode {
namespace {

net::HttpResponse no_token() {
  return net::json_response(
      401,
      R"({"error":{"type":"Unauthenticated","message":"the header X-Relay-Run-Token must hold the token of a run that goes on"}})");
}

// The first of several names that is there, as it was written.
std::string_view text_of(std::string_view object, std::initializer_list<std::string_view> keys,
                         std::string_view otherwise) {
  for (const std::string_view key : keys)
    if (const auto text = json::find_text(object, key)) return *text;
  return otherwise;
}

RpcCall tool_call(std::string_view object, std::initializer_list<std::string_view> arguments) {
  return {
      "mcp.call",
      fmt::format(R"({{"server":{},"tool":{},"arguments":{}}})", text_of(object, {"server", "mcp"}, "\"\""),
                  text_of(object, {"tool", "name"}, "\"\""), text_of(object, arguments, "{}"))};
}

}  // namespace

Result<RpcCall> parse_rpc_call(std::string_view body) {
  RELAY_TRY(const json::object message, json::parse_object(body));
  if (const auto op = json::find_string(message, "op")) {
    if (!RunServers::handles(*op)) return fail(invalid("unknown operation"));
    return RpcCall{std::string(*op),
                   std::string(json::find_object(message, "args") ? text_of(body, {"args"}, "{}") : "{}")};
  }
  if (!message.contains("jsonrpc")) return tool_call(body, {"arguments", "params", "args"});
  if (json::find_string(message, "method") != "tools/call")
    return fail(invalid("the only method is tools/call"));
  if (!json::find_object(message, "params")) return fail(invalid("params must be an object"));
  return tool_call(*json::find_text(body, "params"), {"arguments"});
}

std::shared_ptr<RunServers> RpcEndpoint::run_of(const net::HttpRequest& request) const {
  return tokens_.find(request.headers.find("X-Relay-Run-Token").value_or(""));
}

io::Task<void> RpcEndpoint::answer(net::HttpExchange& exchange, std::shared_ptr<RunServers> servers,
                                   std::string op, std::string args_text) {
  RELAY_CO_TRY(json::object args, json::parse_object(args_text));
  auto result = co_await servers->perform(std::move(op), std::move(args), std::move(args_text));
  net::HttpResponse response =
      result ? net::json_response(200, "{\"result\":" + *result + "}") : net::error_response(result.error());
  co_return co_await exchange.respond(std::move(response));
}

io::Task<void> RpcEndpoint::serve(net::HttpExchange& exchange) {
  std::shared_ptr<RunServers> servers = run_of(exchange.request());
  if (!servers) co_return co_await exchange.respond(no_token());
  RELAY_CO_TRY(const std::string body, co_await exchange.read_body());
  RELAY_CO_TRY(RpcCall call, parse_rpc_call(body));
  co_return co_await answer(exchange, std::move(servers), std::move(call.op), std::move(call.args));
}

io::Task<void> RpcEndpoint::list_tools(net::HttpExchange& exchange, std::string server) {
  std::shared_ptr<RunServers> servers = run_of(exchange.request());
  if (!servers) co_return co_await exchange.respond(no_token());
  std::string args = json::write(json::object{{"server", server}});
  co_return co_await answer(exchange, std::move(servers), "mcp.tools", std::move(args));
}

void RpcEndpoint::add_to(net::Router& router) {
  router.add(
      "POST", "/mcps-rpc",
      [this](net::HttpExchange& exchange, const net::Routed&) { return serve(exchange); }, net::Access::open);
  router.add(
      "GET", "/mcps/:name/tools",
      [this](net::HttpExchange& exchange, const net::Routed& routed) {
        return list_tools(exchange, std::string(routed.param("name")));
      },
      net::Access::open);
}

}  // namespace relay::codemode
