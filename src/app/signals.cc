#include "app/signals.h"

#include <unistd.h>
#include <csignal>

#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "io/spawn.h"

namespace relay::app {
namespace {

io::Task<void> exit_on_second_signal(io::Loop executor) {
  io::asio::signal_set signals(executor, SIGTERM, SIGINT);
  co_await signals.async_wait(io::asio::use_awaitable);
  ::_exit(1);
}

}  // namespace

io::Task<int> wait_for_stop_signal(io::Loop executor) {
  io::asio::signal_set signals(executor, SIGTERM, SIGINT);
  const int signal = co_await signals.async_wait(io::asio::use_awaitable);
  io::spawn(executor, exit_on_second_signal(executor), "second signal");
  co_return signal;
}

}  // namespace relay::app
