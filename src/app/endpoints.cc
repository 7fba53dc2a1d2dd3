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

// One row for each endpoint. An open path is answered without a token, so it must have no effect.
const Endpoints::Row Endpoints::kTable[] = {
    {"POST", "/mcp", net::Access::authenticated, &Endpoints::mcp},
    {"GET", "/mcp", net::Access::authenticated, &Endpoints::mcp},
    {"DELETE", "/mcp", net::Access::authenticated, &Endpoints::mcp},
    {"GET", "/sse", net::Access::authenticated, &Endpoints::sse_stream},
    {"POST", "/messages", net::Access::authenticated, &Endpoints::sse_message},
    {"GET", "/", net::Access::open, &Endpoints::home},
    {"GET", "/healthz", net::Access::open, &Endpoints::health},
    {"GET", "/metrics", net::Access::authenticated, &Endpoints::metrics},
    {"GET", "/capsules/:hash/:file", net::Access::authenticated, &Endpoints::capsule_file},
    {"GET", "/mcp/server-card", net::Access::open, &Endpoints::server_card},
    {"GET", "/.well-known/ai-catalog.json", net::Access::open, &Endpoints::server_catalogue},
};

Endpoints::Endpoints(const EndpointSources& sources)
    : sources_(sources), http_(sources.server), sse_(sources.server, "/messages") {}

void Endpoints::add_to(net::Router& router) {
  sources_.code_mode.add_to(router);
  for (const Row& row : kTable)
    router.add(
        row.method, row.path,
        [this, answer = row.answer](HttpExchange& exchange, const Routed& routed) {
          return (this->*answer)(exchange, routed);
        },
        row.access);
}

void Endpoints::set_facts(const web::HomeFacts& facts) {
  home_ = sources_.home == HomeForm::page ? web::render_home(embedded::home_page(), facts)
                                          : web::render_status(facts);
  card_.emplace(sources_.server.backend().identity(), facts.base_url + "/mcp");
}

io::Task<void> Endpoints::mcp(HttpExchange& exchange, const Routed& routed) {
  return http_.serve(exchange, routed.principal);
}

io::Task<void> Endpoints::sse_stream(HttpExchange& exchange, const Routed& routed) {
  return sse_.serve_stream(exchange, routed.principal);
}

io::Task<void> Endpoints::sse_message(HttpExchange& exchange, const Routed& routed) {
  return sse_.serve_message(exchange, routed.principal);
}

io::Task<void> Endpoints::home(HttpExchange& exchange, const Routed&) {
  return exchange.respond(sources_.home == HomeForm::page ? net::HttpResponse{200, page_headers(), home_}
                                                          : net::json_response(200, home_));
}

io::Task<void> Endpoints::health(HttpExchange& exchange, const Routed&) {
  return exchange.respond(card_ ? net::json_response(200, R"({"status":"ok"})") : not_ready());
}

io::Task<void> Endpoints::metrics(HttpExchange& exchange, const Routed&) {
  return exchange.respond(net::HttpResponse{
      200, {{"Content-Type", "text/plain; version=0.0.4; charset=utf-8"}}, sources_.metrics.render()});
}

// Reading is disk work: it happens on the pool, with copies of everything that the request owns.
io::Task<void> Endpoints::capsule_file(HttpExchange& exchange, const Routed& routed) {
  const auto header = [&](std::string_view name) {
    return std::string(exchange.request().headers.find(name).value_or(""));
  };
  auto read = [&store = sources_.capsules, hash = std::string(routed.param("hash")),
               file = std::string(routed.param("file")), range = header("Range"),
               if_none_match = header("If-None-Match"),
               if_range = header("If-Range")]() -> Result<capsule::FileAnswer> {
    return capsule::answer_file(store, {hash, file, range, if_none_match, if_range});
  };
  RELAY_CO_TRY(capsule::FileAnswer answer, co_await sources_.pool.run(std::move(read)));
  net::HttpResponse response{answer.status, {}, std::move(answer.body)};
  for (auto& [name, value] : answer.headers) response.headers.add(std::move(name), std::move(value));
  co_return co_await exchange.respond(std::move(response));
}

io::Task<void> Endpoints::server_card(HttpExchange& exchange, const Routed&) {
  return exchange.respond(card_ ? card_->card(exchange.request()) : not_ready());
}

io::Task<void> Endpoints::server_catalogue(HttpExchange& exchange, const Routed&) {
  return exchange.respond(card_ ? card_->catalogue(exchange.request()) : not_ready());
}

}  // namespace relay::app
