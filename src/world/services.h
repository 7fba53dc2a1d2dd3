// Services: what a process gives to its World: time, chance, the loop, the log, the network, and the redactor
// that keeps secrets out of what leaves the process. The World makes none of them, so that a test can run one
// with a clock and a random source of its own.
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
#include "secrets/redactor.h"

namespace relay::world {

/// All outlive the World.
struct Services {
  const Clock& clock;
  RandomSource& random;
  io::Loop loop;
  Log& log;
  net::HttpClient& http;
  std::shared_ptr<secrets::Redactor> redactor;  // whoever comes to know a secret teaches it before using it
};

class SystemServices {
 public:
  explicit SystemServices(Log& log) : log_(log), http_(net::HttpClient::make(context_.get_executor())) {
    log_.set_filter([redactor = redactor_](std::string_view line) { return redactor->redact(line); });
  }

  [[nodiscard]] io::asio::io_context& context() { return context_; }
  [[nodiscard]] io::Loop loop() { return context_.get_executor(); }
  [[nodiscard]] RandomSource& random() { return random_; }
  [[nodiscard]] Log& log() { return log_; }
  [[nodiscard]] Services view() { return {clock_, random_, loop(), log_, *http_, redactor_}; }

 private:
  Log& log_;
  io::asio::io_context context_{1};
  SystemClock clock_;
  SystemRandom random_;
  std::unique_ptr<net::HttpClient> http_;
  std::shared_ptr<secrets::Redactor> redactor_ = std::make_shared<secrets::Redactor>();
};

}  // namespace relay::world
