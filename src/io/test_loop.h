// TestLoop: an event loop for unit tests. run() drives one task to its end and gives its result.
#pragma once

#include <optional>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "io/spawn.h"
#include "io/task.h"

namespace relay::io {

class TestLoop {
 public:
  [[nodiscard]] Loop executor() { return context_.get_executor(); }
  asio::io_context& context() { return context_; }

  template <class T>
  Result<T> run(Task<T> task) {
    std::optional<Result<T>> outcome;
    asio::co_spawn(context_, std::move(task), [&](const std::exception_ptr& thrown, Result<T> result) {
      if (thrown)
        outcome = fail(error_from(thrown));
      else
        outcome = std::move(result);
    });
    context_.restart();
    while (!outcome && context_.run_one() > 0) {
    }
    return outcome ? std::move(*outcome)
                   : Result<T>(fail(internal("the loop ran dry before the task ended")));
  }

  /// Runs whatever is ready, without waiting.
  void settle() {
    context_.restart();
    context_.poll();
  }

 private:
  asio::io_context context_;
};

}  // namespace relay::io
