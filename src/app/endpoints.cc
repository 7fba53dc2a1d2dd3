#include "app/endpoints.h"

#include "app/embedded.h"
#include "capsule/file_answer.h"

namespace relay::app {
namespace {

using net::HttpExchange;
using net::Routed;

// The page has no scripts and loads nothing; whatever might find its way into it is not executed.
net::Headers page_headers() {
  return {{"Content-Type", "text/html; charset=utf-8"},
          {"Content-Security-Policy",
           "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action "
           "'none'; frame-ancestors 'none'"},
          {"X-Content-Type-Options", "nosniff"},
          {"Referrer-Policy", "no-referrer"},
          {"Cache-Control", "no-store"}};
}

net::HttpResponse not_ready() {
  return net::json_response(503, R"({"error":{"type":"Unavailable","message":"starting"}})");
}

}  // namespace

Endpoints::Endpoints(mcp::Server& server, World& world)
    : server_(server),
      world_(world),
      ui_(world.config().server.ui),
      http_(server),
      sse_(server, "/messages") {}

void Endpoints::set_facts(web::HomeFacts facts) {
  home_ = ui_ ? web::render_home(embedded::home_page(), facts) : web::render_status(facts);
  card_.emplace(server_.backend().identity(), facts.base_url + "/mcp");
}

io::Task<void> Endpoints::home(HttpExchange& exchange) {
  net::HttpResponse response =
      ui_ ? net::HttpResponse{200, page_headers(), home_} : net::json_response(200, home_);
  co_return co_await exchange.respond(std::move(response));
}

// Reading is disk work: it happens on the pool, with copies of everything that the request owns.
io::Task<void> Endpoints::capsule_file(HttpExchange& exchange, const Routed& routed) {
  const auto header = [&](std::string_view name) {
    return std::string(exchange.request().headers.find(name).value_or(""));
  };
  auto read = [&store = world_.capsule_store(), hash = std::string(routed.param("hash")),
               file = std::string(routed.param("file")), range = header("Range"),
               if_none_match = header("If-None-Match"),
               if_range = header("If-Range")]() -> Result<capsule::FileAnswer> {
    return capsule::answer_file(store, {hash, file, range, if_none_match, if_range});
  };
  RELAY_CO_TRY(capsule::FileAnswer answer, co_await world_.pool().run(std::move(read)));
  net::HttpResponse response{answer.status, {}, std::move(answer.body)};
  for (auto& [name, value] : answer.headers) response.headers.add(std::move(name), std::move(value));
  co_return co_await exchange.respond(std::move(response));
}

void Endpoints::add_to(net::Router& router) {
  world_.code_mode().endpoint().add_to(router);
  for (const char* method : {"POST", "GET", "DELETE"})
    router.add(method, "/mcp", [this](HttpExchange& exchange, const Routed& routed) {
      return http_.serve(exchange, routed.principal);
    });
  router.add("GET", "/sse", [this](HttpExchange& exchange, const Routed& routed) {
    return sse_.serve_stream(exchange, routed.principal);
  });
  router.add("POST", "/messages", [this](HttpExchange& exchange, const Routed& routed) {
    return sse_.serve_message(exchange, routed.principal);
  });
  router.add(
      "GET", "/", [this](HttpExchange& exchange, const Routed&) { return home(exchange); },
      net::Access::open);
  router.add(
      "GET", "/healthz",
      [this](HttpExchange& exchange, const Routed&) {
        return exchange.respond(card_ ? net::json_response(200, R"({"status":"ok"})") : not_ready());
      },
      net::Access::open);
  router.add("GET", "/metrics", [this](HttpExchange& exchange, const Routed&) {
    net::HttpResponse page{
        200, {{"Content-Type", "text/plain; version=0.0.4; charset=utf-8"}}, world_.metrics().render()};
    return exchange.respond(std::move(page));
  });
  router.add("GET", "/capsules/:hash/:file",
             [this](HttpExchange& exchange, const Routed& routed) { return capsule_file(exchange, routed); });
  router.add(
      "GET", "/mcp/server-card",
      [this](HttpExchange& exchange, const Routed&) {
        return exchange.respond(card_ ? card_->card(exchange.request()) : not_ready());
      },
      net::Access::open);
  router.add(
      "GET", "/.well-known/ai-catalog.json",
      [this](HttpExchange& exchange, const Routed&) {
        return exchange.respond(card_ ? card_->catalogue(exchange.request()) : not_ready());
      },
      net::Access::open);
}

}  // namespace relay::app
