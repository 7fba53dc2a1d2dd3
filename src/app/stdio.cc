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
#include "app/status_socket.h"
#include "io/run_loop.h"
#include "io/spawn.h"
#include "world/world.h"

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
io::Task<void> end(world::World& world, asio::io_context& loop) {
  const auto ended = co_await world.stop();
  loop.stop();
  co_return ended;
}

io::Task<void> serve_pipes(mcp::Server& server, asio::posix::stream_descriptor& in,
                           asio::posix::stream_descriptor& out, world::World& world, asio::io_context& loop) {
  const auto served = co_await mcp::serve_stdio(server, in, out, local_caller(world.services().random));
  RELAY_CO_CHECK(co_await end(world, loop));
  co_return served;
}

// Calls are answered before the pipe closes.
io::Task<void> stop_on_signal(mcp::Server& server, world::World& world, asio::io_context& loop) {
  RELAY_CO_CHECK(co_await wait_for_stop_signal(loop.get_executor()));
  if (const auto answered = co_await server.answer_all(); !answered)
    world.services().log.warn(answered.error().message);
  RELAY_CO_CHECK(co_await io::sleep_for(limits::kGoodbye));
  co_return co_await end(world, loop);
}

}  // namespace

int run_stdio(const config::Config& config, const config::ConfigSources& sources, Log& log) {
  world::SystemServices process(log);
  const world::Services services = process.view();
  asio::io_context& loop = process.context();
  auto world = world::World::build(config, world::Purpose::stdio, services);
  if (!world) {
    log.error(world.error().message);
    return 1;
  }
  auto state_key = (*world)->state_key();
  if (!state_key) {
    log.error(state_key.error().message);
    return 1;
  }
  mcp::Server server(services.loop, (*world)->backend(), services.clock, (*world)->ids(),
                     {.state_key = *state_key});
  asio::posix::stream_descriptor in(loop, ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
  asio::posix::stream_descriptor out(loop, ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
  const Reloading reloading(sources, **world);
  auto status = open_status(services.loop, config, log, [&] { return describe_running(**world, "stdio"); });
  io::spawn(services.loop, serve_pipes(server, in, out, **world, loop), "stdio");
  io::spawn(services.loop, stop_on_signal(server, **world, loop), "signals");
  io::run_loop(loop);
  status.reset();  // leaving destroys nothing
  (*world)->leave(0);
}

}  // namespace relay::app
