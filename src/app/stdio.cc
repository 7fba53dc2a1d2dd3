// `relay stdio`: the same server, for a client that started us. stdout belongs to the protocol; logs go to
// stderr.
#include "mcp/stdio.h"

#include <fcntl.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "app/reload.h"
#include "app/serve.h"
#include "app/signals.h"
#include "app/world.h"
#include "io/run_loop.h"
#include "io/spawn.h"

namespace relay::app {
namespace {

namespace asio = io::asio;

authority::Caller local_caller(RandomSource& random) {
  authority::Caller caller;
  caller.principal = "local";
  caller.transport = authority::Transport::stdio;
  caller.connection = make_token(random, 24);
  return caller;
}

// The client is gone, or a signal came: upstream servers are ended with us, whichever happens first.
io::Task<void> end(World& world, asio::io_context& loop) {
  const auto ended = co_await world.stop();
  loop.stop();
  co_return ended;
}

io::Task<void> serve_pipes(mcp::Server& server, asio::posix::stream_descriptor& in,
                           asio::posix::stream_descriptor& out, World& world, asio::io_context& loop) {
  const auto served = co_await mcp::serve_stdio(server, in, out, local_caller(world.random()));
  RELAY_CO_CHECK(co_await end(world, loop));
  co_return served;
}

io::Task<void> stop_on_signal(World& world, asio::io_context& loop) {
  RELAY_CO_CHECK(co_await wait_for_stop_signal(loop.get_executor()));
  co_return co_await end(world, loop);
}

}  // namespace

int run_stdio(const config::Config& config, const config::ConfigSources& sources, Log& log) {
  asio::io_context loop(1);
  auto world = World::build(config, Purpose::stdio, loop.get_executor(), log);
  if (!world) {
    log.error(world.error().message);
    return 1;
  }
  mcp::Server server(loop.get_executor(), (*world)->backend(), (*world)->clock(), (*world)->random(), {});
  asio::posix::stream_descriptor in(loop, ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
  asio::posix::stream_descriptor out(loop, ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
  const Reloading reloading(sources, **world, loop.get_executor(), log);
  io::spawn(loop.get_executor(), serve_pipes(server, in, out, **world, loop), "stdio");
  io::spawn(loop.get_executor(), stop_on_signal(**world, loop), "signals");
  io::run_loop(loop);
  (*world)->leave(0);
}

}  // namespace relay::app
