// relay-conformance-server: the fixtures of the official conformance suite, over HTTP or stdio.
//
//   relay-conformance-server --port 3000     GET/POST/DELETE /mcp, GET /sse and POST /messages for old
//   clients relay-conformance-server --stdio
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>

#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

#include "fixtures.h"
#include "mcp/server_card.h"
#include "mcp/sse_legacy.h"
#include "mcp/stdio.h"
#include "mcp/streamable_http.h"
#include "net/router.h"

namespace {

using namespace relay;

struct Options {
  bool stdio = false;
  std::uint16_t port = 0;
};

std::optional<Options> find_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--stdio") == 0) {
      options.stdio = true;
    } else if (std::strcmp(argv[i], "--port") == 0 && i + 1 < argc) {
      options.port = static_cast<std::uint16_t>(std::atoi(argv[++i]));
    } else {
      return std::nullopt;
    }
  }
  return options;
}

serving::Identity make_identity() {
  serving::Identity identity;
  identity.info = {"relay-conformance-server",
                   "Relay conformance fixtures",
                   "1.0.0",
                   "Fixtures of the MCP conformance suite",
                   "",
                   {}};
  identity.instructions = "Tools for testing MCP clients and servers.";
  identity.capabilities.resources = true;
  identity.capabilities.resource_subscriptions = true;
  identity.capabilities.prompts = true;
  identity.capabilities.completions = true;
  identity.capabilities.tasks = true;
  return identity;
}

Result<void> fill(mcp::Catalogue& catalogue) {
  RELAY_CHECK(conformance::add_content_tools(catalogue));
  RELAY_CHECK(conformance::add_asking_tools(catalogue));
  RELAY_CHECK(conformance::add_task_tools(catalogue));
  RELAY_CHECK(conformance::add_changing_tools(catalogue));
  conformance::add_resources(catalogue);
  conformance::add_prompts(catalogue);
  return {};
}

int complain(const Error& error) {
  std::fprintf(stderr, "relay-conformance-server: %s\n", describe(error).c_str());
  return 1;
}

int serve_pipes(io::asio::io_context& loop, mcp::Server& server) {
  io::asio::posix::stream_descriptor in(loop, ::dup(STDIN_FILENO));
  io::asio::posix::stream_descriptor out(loop, ::dup(STDOUT_FILENO));
  auto run = [&]() -> io::Task<void> {
    authority::Caller caller{.principal = "local", .transport = authority::Transport::stdio};
    auto served = co_await mcp::serve_stdio(server, in, out, std::move(caller));
    server.stop();
    co_return served;
  };
  io::spawn(loop.get_executor(), run(), "stdio");
  loop.run();
  return 0;
}

int serve_http(io::asio::io_context& loop, mcp::Server& server, const serving::Identity& identity,
               std::uint16_t port) {
  mcp::StreamableHttp http(server);
  mcp::SseLegacy sse(server, "/messages");
  const mcp::ServerCard card(identity, fmt::format("http://127.0.0.1:{}/mcp", port));
  net::Router router(net::OriginGuard({}), nullptr);
  const auto endpoint = [&](net::HttpExchange& exchange, const net::Routed& routed) {
    return http.serve(exchange, routed.principal);
  };
  for (const char* method : {"GET", "POST", "DELETE"}) router.add(method, "/mcp", endpoint);
  router.add("GET", "/sse", [&](net::HttpExchange& exchange, const net::Routed& routed) {
    return sse.serve_stream(exchange, routed.principal);
  });
  router.add("POST", "/messages", [&](net::HttpExchange& exchange, const net::Routed& routed) {
    return sse.serve_message(exchange, routed.principal);
  });
  router.add("GET", "/mcp/server-card", [&](net::HttpExchange& exchange, const net::Routed&) {
    return exchange.respond(card.card(exchange.request()));
  });
  router.add("GET", "/.well-known/ai-catalog.json", [&](net::HttpExchange& exchange, const net::Routed&) {
    return exchange.respond(card.catalogue(exchange.request()));
  });
  net::HttpServerOptions options;
  options.port = port;
  auto listening = net::HttpServer::open(loop.get_executor(), options, router.handler());
  if (!listening) return complain(listening.error());
  std::printf("listening on http://127.0.0.1:%u/mcp\n", (*listening)->port());
  std::fflush(stdout);
  io::asio::signal_set signals(loop, SIGINT, SIGTERM);
  signals.async_wait([&](const boost::system::error_code&, int) {
    server.stop();
    io::spawn(loop.get_executor(), (*listening)->stop(std::chrono::seconds(1)), "stop");
  });
  loop.run();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = find_options(argc, argv);
  if (!options) {
    std::fprintf(stderr, "usage: relay-conformance-server --port N | --stdio\n");
    return 2;
  }
  std::signal(SIGPIPE, SIG_IGN);
  io::asio::io_context loop(1);
  io::set_failure_reporter([](std::string_view task, const Error& error) {
    std::fprintf(stderr, "%.*s: %s\n", static_cast<int>(task.size()), task.data(), describe(error).c_str());
  });
  const SystemClock clock;
  SystemRandom random;
  mcp::Catalogue catalogue(make_identity());
  if (const auto filled = fill(catalogue); !filled) return complain(filled.error());
  mcp::Server server(loop.get_executor(), catalogue, clock, random, {});
  return options->stdio ? serve_pipes(loop, server)
                        : serve_http(loop, server, catalogue.identity(), options->port);
}
