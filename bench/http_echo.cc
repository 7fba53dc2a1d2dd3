// Serves one small JSON answer, for comparing the bare HTTP server with node:http under wrk.
//   relay-bench-http [port]     prints the port it listens on, ends with SIGTERM
#include <cstdio>
#include <cstdlib>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

#include "net/http_server.h"

namespace {

relay::io::Task<void> answer(relay::net::HttpExchange& exchange) {
  relay::net::HttpResponse response =
      relay::net::json_response(200, R"({"jsonrpc":"2.0","id":1,"result":{}})");
  co_return co_await exchange.respond(std::move(response));
}

}  // namespace

int main(int argc, char** argv) {
  boost::asio::io_context loop(1);
  relay::net::HttpServerOptions options;
  if (argc > 1) options.port = static_cast<std::uint16_t>(std::atoi(argv[1]));
  auto server = relay::net::HttpServer::open(loop.get_executor(), options, answer);
  if (!server) {
    std::fprintf(stderr, "%s\n", server.error().message.c_str());
    return 1;
  }
  std::printf("%u\n", unsigned{(*server)->port()});
  std::fflush(stdout);
  boost::asio::signal_set signals(loop, SIGTERM, SIGINT);
  signals.async_wait([&](const boost::system::error_code&, int) { loop.stop(); });
  loop.run();
}
