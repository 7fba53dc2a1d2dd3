#include "executors/executor.h"

#include <gtest/gtest.h>

#include "audit/recorded_fixture.h"
#include "executors/executor_table.h"
#include "io/test_loop.h"

namespace relay::executors {
namespace {

class FakeExecutor final : public Executor {
 public:
  explicit FakeExecutor(std::string name, Runtime runs = Runtime::quickjs)
      : name_(std::move(name)), runs_(runs) {}
  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] bool can_run(Runtime runtime) const override { return runtime == runs_; }
  [[nodiscard]] bool has_session(const SessionKey&, Runtime) const override { return false; }
  void drop_sessions(std::string_view owner) override { dropped = owner; }
  void stop() override { ++stops; }
  int stops = 0;
  std::string dropped;
  std::vector<OwnedRun> performed;

 private:
  Task<RunOutcome> perform(OwnedRun run, std::shared_ptr<HostCalls>, RunObserver&, RunStop) override {
    performed.push_back(std::move(run));
    co_return RunOutcome{};
  }
  std::string name_;
  Runtime runs_;
};

RunRequest request(std::string code, std::string input = {}) {
  RunRequest made;
  made.capsule.manifest.language = Language::js;
  made.capsule.layers.push_back(std::make_shared<const std::string>(std::move(code)));
  made.stdin_bytes = std::move(input);
  return made;
}

class ExecutorTest : public testing::Test {
 protected:
  static authority::Call judged(json::object args) {
    authority::Call call = audit::make_call("req_77");
    call.args = std::move(args);
    return call;
  }
  Result<RunOutcome> run(json::object args, RunRequest wanted) {
    const audit::RecordedCall recorded(judged(std::move(args)));
    RunObserver observer;
    return loop.run(executor.run(recorded.get(), std::move(wanted), nullptr, observer));
  }
  io::TestLoop loop;
  FakeExecutor executor{"place"};
};

TEST_F(ExecutorTest, ARunIsNamedAfterItsCallAndSaysWhereItRan) {
  const auto outcome = run({{"code", "1"}}, request("1"));
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->executor, "place");
  ASSERT_EQ(executor.performed.size(), 1U);
  EXPECT_EQ(executor.performed[0].run_id, "run_77");
}

TEST_F(ExecutorTest, WhatWasNotJudgedDoesNotRun) {
  EXPECT_FALSE(run({{"code", "1"}}, request("2")));
  EXPECT_FALSE(run({{"code", "1"}}, request("1", "input that no policy saw")));
  EXPECT_FALSE(run({{"code", "1"}}, RunRequest{})) << "a capsule without code";
  EXPECT_TRUE(executor.performed.empty());
}

TEST_F(ExecutorTest, ARuntimeGetsCodeOfItsOwnLanguageOnly) {
  RunRequest wrong = request("1");
  wrong.runtime = Runtime::pyodide;
  EXPECT_FALSE(run({{"code", "1"}}, std::move(wrong)));
  EXPECT_TRUE(executor.performed.empty());
}

TEST(ExecutorTable, TheFirstThatCanRunItIsChosen) {
  FakeExecutor tab("browser", Runtime::pyodide);
  FakeExecutor local("local");
  ExecutorTable table;
  table.add(tab);
  table.add(local);
  EXPECT_EQ(*table.choose("", Runtime::quickjs), &local);
  EXPECT_EQ(*table.choose("", Runtime::pyodide), &tab);
  EXPECT_EQ(table.choose("", Runtime::cpython).error().kind, ErrorKind::no_executor);
  table.stop();
  EXPECT_EQ(tab.stops + local.stops, 2);
}

TEST(ExecutorTable, ACallThatNamesAPlaceGoesThereOrNowhere) {
  FakeExecutor local("local");
  ExecutorTable table;
  table.add(local);
  EXPECT_EQ(*table.choose("local", Runtime::quickjs), &local);
  EXPECT_EQ(table.choose("browser", Runtime::quickjs).error().message,
            "no browser tab is attached; leave \"executor\" out to run here");
}

TEST(ExecutorTable, WhereTheBrowserIsRequiredNothingRunsElsewhere) {
  FakeExecutor local("local");
  FakeExecutor tab("browser");
  ExecutorTable table(Routing::browser_only);
  table.add(local);
  EXPECT_EQ(table.choose("", Runtime::quickjs).error().kind, ErrorKind::no_executor);
  EXPECT_EQ(table.choose("local", Runtime::quickjs).error().kind, ErrorKind::no_executor);
  table.add(tab);
  EXPECT_EQ(*table.choose("", Runtime::quickjs), &tab);
}

}  // namespace
}  // namespace relay::executors
