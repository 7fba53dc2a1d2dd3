#include "app/serve.h"

#include <unistd.h>

#include <fmt/format.h>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>

#include "app/browser.h"
#include "app/endpoints.h"
#include "app/reload.h"
#include "app/signals.h"
#include "app/status_socket.h"
#include "auth/bearer_token.h"
#include "io/run_loop.h"
#include "io/spawn.h"
#include "mcp/open_calls.h"
#include "mcp/server.h"
#include "mcp/session_store.h"
#include "net/http_server.h"
#include "world/package_options.h"
#include "world/version.h"
#include "world/world.h"

namespace relay::app {
namespace {

namespace asio = io::asio;

bool is_loopback(const std::string& address) {
  boost::system::error_code error;
  const auto parsed = asio::ip::make_address(address, error);
  return address == "localhost" || (!error && parsed.is_loopback());
}

bool is_wildcard(const std::string& address) {
  return address == "0.0.0.0" || address == "::";
}

std::string base_url(const config::Config& config, std::uint16_t port) {
  const std::string& bind = config.server.bind;
  const std::string host = is_wildcard(bind)                     ? "127.0.0.1"
                           : bind.find(':') != std::string::npos ? "[" + bind + "]"
                                                                 : bind;
  return fmt::format("{}://{}:{}", config.server.tls_cert.empty() ? "http" : "https", host, port);
}

// The token is for the person at the terminal. Output that is no terminal ends in a file, the journal or a
// container's log, which others read: there only the file that holds the token is named.
void show_new_token(const auth::BearerToken& token, const std::string& path) {
  if (::isatty(STDOUT_FILENO))
    fmt::print("Bearer token (shown once, kept in {}):\n  {}\n", path, token.text());
  else
    fmt::print("A new bearer token was made; read it from {}\n", path);
  std::fflush(stdout);
}

Result<std::shared_ptr<net::Authenticator>> make_authenticator(const config::Config& config,
                                                               const world::Services& services) {
  if (config.auth_mode != config::AuthMode::token) return std::shared_ptr<net::Authenticator>();
  RELAY_TRY(auth::BearerToken token, auth::BearerToken::open(config.token_path.string(), services.random));
  services.redactor->learn(token.text());
  if (token.is_new()) show_new_token(token, config.token_path.string());
  return std::make_shared<auth::TokenAuthenticator>(std::move(token));
}

net::HttpServerOptions server_options(const config::Config& config) {
  net::HttpServerOptions options;
  options.address = config.server.bind;
  options.port = config.server.port;
  options.limits.connections = config.server.max_connections;
  options.limits.connections_per_address = config.server.max_connections_per_address;
  if (!config.server.tls_cert.empty()) {
    const auto resolved = [&](const std::string& path) { return (config.root / path).string(); };
    options.tls = net::ServerTls{resolved(config.server.tls_cert), resolved(config.server.tls_key)};
  }
  return options;
}

web::HomeFacts home_facts(world::World& world, const std::string& url) {
  return {.base_url = url,
          .version = std::string(world::kVersion),
          .program = (world::program_directory() / "relay").string(),
          .fingerprint = world.capsules().keys().current().public_key().fingerprint(),
          .toolsets = world.config().toolsets,
          .needs_token = world.config().auth_mode == config::AuthMode::token};
}

void announce(world::World& world, const std::string& url, std::uint16_t port, Log& log) {
  const std::string& bind = world.config().server.bind;
  const std::filesystem::path& file = world.config().file;
  log.info("listening", {{"url", url},
                         {"configuration", file.empty() ? "embedded defaults" : file.string()},
                         {"address", is_wildcard(bind) ? bind + " (all addresses)" : bind},
                         {"port", port},
                         {"mcp", url + "/mcp"},
                         {"auth", config::word_of(world.config().auth_mode)},
                         {"keyFingerprint", world.capsules().keys().current().public_key().fingerprint()}});
}

// The order of stopping: calls are cancelled and answered, streams closed, sandboxes and servers ended, and
// connections closed when they have sent what is left.
io::Task<void> serve_until_told(world::World& world, mcp::Server& server, net::HttpServer& http, Log& log,
                                asio::io_context& loop) {
  RELAY_CO_TRY(const int signal, co_await wait_for_stop_signal(loop.get_executor()));
  log.info("stopping", {{"signal", signal}});
  if (const auto answered = co_await server.answer_all(); !answered) log.warn(answered.error().message);
  server.stop();
  RELAY_CO_CHECK(co_await io::sleep_for(limits::kGoodbye));
  if (const auto ended = co_await world.stop(); !ended) log.warn(ended.error().message);
  RELAY_CO_CHECK(co_await http.stop(limits::kShutdownGrace));
  RELAY_CO_CHECK(co_await io::sleep_for(limits::kGoodbye));
  log.info("stopped");
  loop.stop();
  co_return Result<void>{};
}

json::object describe_serving(world::World& world, mcp::Server& server, const std::string& url) {
  json::object report = describe_running(world, "serve");
  report["url"] = url;
  report["auth"] = std::string(config::word_of(world.config().auth_mode));
  report["sessions"] = server.sessions().size();
  return report;
}

int failed(Log& log, const Error& error) {
  log.error(error.message, {{"type", error.face().type}});
  return error.kind == ErrorKind::invalid || error.kind == ErrorKind::denied ? 2 : 1;
}

void add_server_metrics(metrics::Registry& metrics, mcp::Server& server, net::HttpServer& http) {
  metrics.add_gauge("relay_http_connections", "Open HTTP connections",
                    [&http] { return static_cast<double>(http.connection_count()); });
  metrics.add_gauge("relay_calls_open", "Requests of clients that are not answered yet",
                    [&server] { return static_cast<double>(server.open_calls()->size()); });
  metrics.add_gauge("relay_sessions", "Legacy MCP sessions alive",
                    [&server] { return static_cast<double>(server.sessions().size()); });
}

}  // namespace

Result<void> check_exposure(const config::Config& config) {
  if (config.auth_mode != config::AuthMode::none || is_loopback(config.server.bind)) return {};
  return fail(denied(fmt::format(
      "refusing to listen on {} without authentication: anyone who reaches the port could run code here. "
      "Add --auth token or auth.mode \"token\" (a bearer token is made and shown), or listen on 127.0.0.1",
      config.server.bind)));
}

int run_serve(const config::Config& config, const config::ConfigSources& sources, Log& log) {
  if (const auto exposed = check_exposure(config); !exposed) return failed(log, exposed.error());
  world::SystemServices process(log);
  const world::Services services = process.view();
  auto world = world::World::build(config, world::Purpose::serve, services);
  if (!world) return failed(log, world.error());
  auto state_key = (*world)->state_key();
  if (!state_key) return failed(log, state_key.error());
  mcp::Server server(services.loop, (*world)->backend(), services.clock, (*world)->ids(),
                     {.state_key = *state_key});

  auto authenticator = make_authenticator(config, services);
  if (!authenticator) return failed(log, authenticator.error());
  net::OriginGuard guard({.bind_address = config.server.bind,
                          .allowed_origins = config.allowed_origins,
                          .allowed_hosts = config.server.allowed_hosts});
  net::Router router(std::move(guard), *authenticator);
  Endpoints endpoints({.server = server,
                       .code_mode = (*world)->code_mode().endpoint(),
                       .capsules = (*world)->capsules().store(),
                       .metrics = (*world)->metrics(),
                       .pool = (*world)->pool(),
                       .home = config.server.ui ? HomeForm::page : HomeForm::status});
  endpoints.add_to(router);
  auto http = net::HttpServer::open(services.loop, server_options(config), router.handler());
  if (!http) return failed(log, http.error());
  add_server_metrics((*world)->metrics(), server, **http);

  const std::string url = base_url(config, (*http)->port());
  endpoints.set_facts(home_facts(**world, url));
  // Before it says that it listens: a change after that must not be missed.
  const Reloading reloading(sources, **world);
  auto status =
      open_status(services.loop, config, log, [&] { return describe_serving(**world, server, url); });
  announce(**world, url, (*http)->port(), log);
  if (config.container_default && is_loopback(config.server.bind))
    log.warn(
        "in a container, but without authentication: only reachable from inside it. Add --auth token to "
        "listen on 0.0.0.0");
  if (config.server.ui && config.server.open_browser && can_open_browser())
    if (const auto opened = open_browser(services.loop, url); !opened) log.warn(opened.error().message);
  io::spawn(services.loop, serve_until_told(**world, server, **http, log, process.context()), "serve");
  io::run_loop(process.context());
  status.reset();  // leaving destroys nothing
  (*world)->leave(0);
}

}  // namespace relay::app
