// FleetTest: the real pipeline with its journal, a loop that is run by hand, and upstreams that do what a
// test says. For tests of whoever stands between clients and a fleet.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <gtest/gtest.h>
#include <boost/asio/io_context.hpp>

#include "audit/audit_fixture.h"
#include "gateway/fake_upstream.h"
#include "pipeline/guarded_backend.h"

namespace relay::gateway {

struct FleetTest : testing::Test {
  audit::TempFolder folder;
  SystemClock clock;
  SystemRandom random;
  boost::asio::io_context loop;
  std::unique_ptr<audit::Journal> journal = std::move(*audit::Journal::start(
      loop.get_executor(), {.ledger = {folder.log()}, .on_failure = audit::OnFailure::refuse}, clock));
  policy::Broker broker{clock, random, std::chrono::seconds(60)};
  pipeline::ResultsStore results{clock, random};
  std::vector<policy::Problem> problems;
  pipeline::Pipeline pipeline{
      policy::PolicyEngine::make(
          policy::read_rules(json::object{{"mode", "open"}, {"deny", json::array{"secret"}}}, "policy",
                             problems),
          "policy", problems),
      broker, *journal, results, clock};
  pipeline::GuardedBackend backend{serving::Identity{.capabilities = {.tasks = true}}, pipeline, random};
  FakeFleet fleet;

  /// The last thing that a fixture's destructor does: what still runs may want the members of the fixture.
  void close() {
    journal.reset();
    loop.restart();
    loop.poll();
  }
  /// Until it is so: audit lines are written by another thread.
  void run_until(const std::function<bool()>& done) {
    loop.restart();
    for (int i = 0; i < 2000 && !done(); ++i) loop.run_one_for(std::chrono::milliseconds(20));
  }
  template <class T>
  Result<T> wait(io::Task<T> task) {
    std::optional<Result<T>> outcome;
    io::asio::co_spawn(loop, std::move(task), [&](const std::exception_ptr& thrown, Result<T> result) {
      outcome = thrown ? fail(io::error_from(thrown)) : std::move(result);
    });
    run_until([&] { return outcome.has_value(); });
    return outcome ? std::move(*outcome) : Result<T>(fail(internal("no answer")));
  }
};

}  // namespace relay::gateway
