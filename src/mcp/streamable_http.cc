#include "mcp/streamable_http.h"

#include "base/bytes.h"
#include "mcp/batch_reply.h"
#include "mcp/http_reply.h"
#include "mcp/session_store.h"

namespace relay::mcp {
namespace {

using protocol::RpcError;
namespace code = protocol::code;

net::HttpResponse refusal(int status, const protocol::Id& id, const RpcError& error) {
  return net::json_response(status, protocol::write_error(id, error));
}
net::HttpResponse refusal(int status, int number, std::string message) {
  return refusal(status, protocol::Id(), RpcError{number, std::move(message), {}});
}

net::HttpResponse accepted() {
  return net::HttpResponse{202, {}, {}};
}

net::HttpResponse method_not_allowed(std::string allowed) {
  net::HttpResponse response = refusal(405, code::kInvalidRequest, "Method not allowed");
  response.headers.add("Allow", std::move(allowed));
  return response;
}

bool is_json(const net::Headers& headers) {
  const auto type = headers.find("Content-Type");
  return type && to_lower_ascii(trim_ascii(type->substr(0, type->find(';')))) == "application/json";
}

bool header_names_modern(const net::Headers& headers) {
  const auto version = headers.find("MCP-Protocol-Version");
  return version && protocol::names_modern_era(trim_ascii(*version));
}

bool is_batch(std::string_view body) {
  return trim_ascii(body).starts_with('[');
}

const json::object& params_of(const protocol::Message& message) {
  if (const auto* request = std::get_if<protocol::Request>(&message)) return request->params;
  if (const auto* notification = std::get_if<protocol::Notification>(&message)) return notification->params;
  return json::empty_object();
}

}  // namespace

io::Task<void> StreamableHttp::serve(net::HttpExchange& exchange, std::string principal) {
  const std::string& method = exchange.request().method;
  if (method == "POST") return serve_post(exchange, std::move(principal));
  if (method == "GET") return serve_get(exchange, std::move(principal));
  if (method == "DELETE") return serve_delete(exchange, std::move(principal));
  return exchange.respond(method_not_allowed("GET, POST, DELETE"));
}

io::Task<void> StreamableHttp::serve_post(net::HttpExchange& exchange, std::string principal) {
  const net::Headers& headers = exchange.request().headers;
  if (!is_json(headers)) {
    net::HttpResponse refused = refusal(415, code::kInvalidRequest, "Content-Type must be application/json");
    co_return co_await exchange.respond(std::move(refused));
  }
  if (const Accepts accepts = parse_accept(headers); !accepts.json && !accepts.events) {
    net::HttpResponse refused =
        refusal(406, code::kInvalidRequest, "Accept must list application/json and text/event-stream");
    co_return co_await exchange.respond(std::move(refused));
  }
  RELAY_CO_TRY(std::string body, co_await exchange.read_body());
  protocol::drop_byte_order_mark(body);
  if (is_batch(body)) co_return co_await serve_batch(exchange, std::move(body), std::move(principal));
  auto message = protocol::parse_message(std::move(body));
  if (!message) {
    net::HttpResponse refused = refusal(400, message.error().id, message.error().error);
    co_return co_await exchange.respond(std::move(refused));
  }
  co_return co_await take(exchange, *std::move(message), std::move(principal));
}

io::Task<void> StreamableHttp::take(net::HttpExchange& exchange, protocol::Message message,
                                    std::string principal) {
  const net::Headers& headers = exchange.request().headers;
  const bool claims_modern = protocol::claims_modern_era(params_of(message));
  if (auto* request = std::get_if<protocol::Request>(&message)) {
    if (claims_modern) co_return co_await serve_modern(exchange, std::move(*request), std::move(principal));
    if (header_names_modern(headers)) {
      const bool initializes = request->method == "initialize";
      const RpcError error =
          initializes ? RpcError{code::kHeaderMismatch,
                                 "initialize does not belong to the revision in MCP-Protocol-Version",
                                 {}}
                      : protocol::parse_envelope(request->params).error();
      net::HttpResponse refused = refusal(400, request->id, error);
      co_return co_await exchange.respond(std::move(refused));
    }
    if (request->method == "initialize")
      co_return co_await serve_initialize(exchange, std::move(*request), std::move(principal));
    co_return co_await serve_legacy(exchange, std::move(*request), std::move(principal));
  }
  // The modern era has no client notifications over HTTP that mean anything: closing the stream cancels.
  if (claims_modern) co_return co_await exchange.respond(accepted());
  const auto session = find_session(exchange.request(), principal);
  if (!session) {
    net::HttpResponse refused = refusal(session.error().status, session.error().id, session.error().error);
    co_return co_await exchange.respond(std::move(refused));
  }
  if (auto* notification = std::get_if<protocol::Notification>(&message))
    legacy_.notify(**session, *notification);
  if (auto* response = std::get_if<protocol::Response>(&message))
    (*session)->take_answer(std::move(*response));
  co_return co_await exchange.respond(accepted());
}

io::Task<void> StreamableHttp::serve_modern(net::HttpExchange& exchange, protocol::Request request,
                                            std::string principal) {
  const net::HttpRequest& http = exchange.request();
  ReplyStyle style{parse_accept(http.headers), nullptr, {}, {}};
  auto stream = std::make_shared<MessageStream>(server_.executor(), MessageStream::Replay::no);
  const protocol::FindHeader find = [&headers = http.headers](std::string_view name) {
    return headers.find(name);
  };
  modern_.handle(caller_of(http, std::move(principal)), std::move(request), stream, &find);
  co_return co_await send_reply(exchange, std::move(stream), std::move(style));
}

io::Task<void> StreamableHttp::serve_legacy(net::HttpExchange& exchange, protocol::Request request,
                                            std::string principal) {
  auto session = find_session(exchange.request(), principal);
  if (!session) {
    net::HttpResponse refused = refusal(session.error().status, request.id, session.error().error);
    co_return co_await exchange.respond(std::move(refused));
  }
  RELAY_CO_CHECK(co_await (*session)->in_flight->wait_for_room());
  ReplyStyle style{parse_accept(exchange.request().headers), *session, server_.clock().mono(), {}};
  auto stream = std::make_shared<MessageStream>(server_.executor(), MessageStream::Replay::yes);
  legacy_.handle(*session, std::move(request), stream);
  co_return co_await send_reply(exchange, std::move(stream), std::move(style));
}

io::Task<void> StreamableHttp::serve_initialize(net::HttpExchange& exchange, protocol::Request request,
                                                std::string principal) {
  auto stream = std::make_shared<MessageStream>(server_.executor(), MessageStream::Replay::yes);
  auto session = std::make_shared<Session>(server_.executor(),
                                           caller_of(exchange.request(), std::move(principal)), stream);
  session->get_stream = std::move(stream);
  session->on_end = [this](Session& ended) { release(server_, ended); };
  const auto result = legacy_.initialize(*session, request);
  if (!result) {
    net::HttpResponse refused = refusal(200, request.id, result.error());
    co_return co_await exchange.respond(std::move(refused));
  }
  RELAY_CO_CHECK(server_.sessions().add(session));
  auto reply = std::make_shared<MessageStream>(server_.executor(), MessageStream::Replay::no);
  reply->finish({protocol::write_result(request.id, *result), 200});
  ReplyStyle style{parse_accept(exchange.request().headers),
                   session,
                   server_.clock().mono(),
                   {{"Mcp-Session-Id", session->caller.session_id}}};
  co_return co_await send_reply(exchange, std::move(reply), std::move(style));
}

io::Task<void> StreamableHttp::serve_batch(net::HttpExchange& exchange, std::string body,
                                           std::string principal) {
  auto incoming = protocol::parse_incoming(std::move(body));
  net::HttpResponse refused = refusal(400, code::kInvalidRequest, "batches belong to revision 2025-03-26");
  if (!incoming) {
    refused = refusal(400, incoming.error().id, incoming.error().error);
    co_return co_await exchange.respond(std::move(refused));
  }
  const auto session = find_session(exchange.request(), principal);
  if (!session || (*session)->revision != protocol::Revision::v2025_03_26 ||
      header_names_modern(exchange.request().headers))
    co_return co_await exchange.respond(std::move(refused));
  RELAY_CO_CHECK(co_await (*session)->in_flight->wait_for_room());
  ReplyStyle style{parse_accept(exchange.request().headers), *session, server_.clock().mono(), {}};
  auto stream = std::make_shared<MessageStream>(server_.executor(), MessageStream::Replay::yes);
  if (!handle_batch(legacy_, *session, *std::move(incoming), stream))
    co_return co_await exchange.respond(accepted());
  co_return co_await send_reply(exchange, std::move(stream), std::move(style));
}

io::Task<void> StreamableHttp::serve_get(net::HttpExchange& exchange, std::string principal) {
  const net::HttpRequest& request = exchange.request();
  if (header_names_modern(request.headers) || !parse_accept(request.headers).events)
    co_return co_await exchange.respond(method_not_allowed("POST"));
  const auto session = find_session(request, principal);
  if (!session) {
    net::HttpResponse refused = refusal(session.error().status, session.error().id, session.error().error);
    co_return co_await exchange.respond(std::move(refused));
  }
  std::shared_ptr<MessageStream> stream = (*session)->get_stream;
  std::uint64_t after = stream->position();
  const auto last = request.headers.find("Last-Event-ID");
  if (const auto id = last ? find_event_id(*last) : std::nullopt)
    if (auto found = (*session)->find_stream(id->stream)) {
      stream = std::move(found);
      after = id->number;
    }
  ReplyStyle style{{}, *session, server_.clock().mono(), {}};
  co_return co_await send_events(exchange, std::move(stream), after, std::move(style));
}

io::Task<void> StreamableHttp::serve_delete(net::HttpExchange& exchange, std::string principal) {
  const net::HttpRequest& request = exchange.request();
  if (header_names_modern(request.headers)) co_return co_await exchange.respond(method_not_allowed("POST"));
  const auto session = find_session(request, principal);
  if (!session) {
    net::HttpResponse refused = refusal(session.error().status, session.error().id, session.error().error);
    co_return co_await exchange.respond(std::move(refused));
  }
  server_.sessions().end(std::string((*session)->caller.session_id));
  co_return co_await exchange.respond(net::HttpResponse{204, {}, {}});
}

std::expected<std::shared_ptr<Session>, StreamableHttp::Refused> StreamableHttp::find_session(
    const net::HttpRequest& request, std::string_view principal) {
  if (const auto version = request.headers.find("MCP-Protocol-Version");
      version && !protocol::find_revision(trim_ascii(*version)))
    return std::unexpected(Refused{
        400, {}, {code::kInvalidRequest, "MCP-Protocol-Version names no revision that we speak", {}}});
  const auto id = request.headers.find("Mcp-Session-Id");
  if (!id)
    return std::unexpected(
        Refused{400, {}, {code::kInvalidRequest, "Mcp-Session-Id is missing: initialize first", {}}});
  auto session = server_.sessions().find(trim_ascii(*id), principal);
  if (!session) return std::unexpected(Refused{404, {}, {code::kSessionNotFound, "Session not found", {}}});
  return session;
}

authority::Caller StreamableHttp::caller_of(const net::HttpRequest& request, std::string principal) const {
  authority::Caller caller;
  caller.principal = std::move(principal);
  caller.transport = authority::Transport::http;
  caller.remote = request.remote_address;
  return caller;
}

}  // namespace relay::mcp
