// A loop for tests: runs one task to its end and gives its result.
#pragma once

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "audit/recorded_fixture.h"
#include "io/thread_pool.h"
#include "packages/tool_run.h"

namespace relay::packages {

/// Tools in real cages, with this environment of the test's choice.
inline ToolOptions tools_of_test(Environment environment) {
  ToolOptions options;
  options.parts.cage_program = RELAY_CAGE;
  options.environment = std::move(environment);
  return options;
}

class LoopFixture : public ::testing::Test {
 protected:
  template <class T>
  Result<T> run(io::Task<T> task) {
    std::optional<Result<T>> result;
    io::asio::co_spawn(loop, std::move(task), [&](const std::exception_ptr& thrown, Result<T> value) {
      if (thrown) std::rethrow_exception(thrown);
      result = std::move(value);
    });
    loop.restart();
    while (!result && loop.run_one() > 0) {
    }
    return result ? std::move(*result) : Result<T>(fail(internal("the loop ran dry")));
  }

  /// The permission to start processes.
  [[nodiscard]] std::shared_ptr<authority::Effects> effects() const { return recorded.get().effects(); }

  audit::RecordedCall recorded;
  io::asio::io_context loop;
  io::ThreadPool pool{2};
};

}  // namespace relay::packages
