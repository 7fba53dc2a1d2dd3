// Services: what a process gives to its World: time, chance, the loop, the log and the network. The World
// makes none of them, so that a test can run one with a clock and a random source of its own.
//
// SystemServices has the real ones. A command makes it first and destroys it last. Loop thread only.
#pragma once

#include <memory>

#include <boost/asio/io_context.hpp>

#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "io/task.h"
#include "net/http_client.h"

namespace relay::world {

/// All outlive the World.
struct Services {
  const Clock& clock;
  RandomSource& random;
  io::Loop loop;
  Log& log;
  net::HttpClient& http;
};

class SystemServices {
 public:
  explicit SystemServices(Log& log) : log_(log), http_(net::HttpClient::make(context_.get_executor())) {}

  [[nodiscard]] io::asio::io_context& context() { return context_; }
  [[nodiscard]] io::Loop loop() { return context_.get_executor(); }
  [[nodiscard]] RandomSource& random() { return random_; }
  [[nodiscard]] Log& log() { return log_; }
  [[nodiscard]] Services view() { return {clock_, random_, loop(), log_, *http_}; }

 private:
  Log& log_;
  io::asio::io_context context_{1};
  SystemClock clock_;
  SystemRandom random_;
  std::unique_ptr<net::HttpClient> http_;
};

}  // namespace relay::world
