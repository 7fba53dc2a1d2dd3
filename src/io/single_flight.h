// SingleFlight: many ask for one thing at once, the work is done once, all get the answer. Loop thread only.
//
// The work runs as its own coroutine: a caller that is cancelled gives up waiting, the others still get their
// answer.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "io/event.h"
#include "io/spawn.h"

namespace relay::io {

template <class T>
class SingleFlight {
 public:
  io::Task<T> run(std::string key, std::function<io::Task<T>()> work) {
    const auto executor = co_await io::asio::this_coro::executor;
    const auto [found, is_first] = flights_->try_emplace(key, nullptr);
    if (is_first) found->second = std::make_shared<Flight>(executor);
    // Held from here on: work that ends at once takes the flight off the map before spawn returns.
    const std::shared_ptr<Flight> flight = found->second;
    if (is_first) io::spawn(executor, fly(flights_, flight, key, std::move(work)), "single flight");
    RELAY_CO_CHECK(co_await flight->landed.wait());
    co_return *flight->result;
  }

 private:
  struct Flight {
    explicit Flight(const io::Loop& executor) : landed(executor) {}
    io::Event landed;
    std::optional<Result<T>> result;
  };
  using Flights = std::map<std::string, std::shared_ptr<Flight>>;

  static io::Task<void> fly(std::shared_ptr<Flights> flights, std::shared_ptr<Flight> flight, std::string key,
                            std::function<io::Task<T>()> work) {
    try {
      flight->result = co_await work();
    } catch (...) {
      flight->result = fail(io::error_from(std::current_exception()));
    }
    flights->erase(key);
    flight->landed.set();
    co_return Result<void>{};
  }

  std::shared_ptr<Flights> flights_ = std::make_shared<Flights>();
};

}  // namespace relay::io
