// The real zygotes, with everything in them: runs, sessions, limits, and what happens when somebody is
// killed.
#include <gtest/gtest.h>

#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <set>

#include <fmt/format.h>

#include "local_runs.h"

namespace relay::hostile {
namespace {

using executors::Language;
using executors::RunOutcome;
using namespace std::chrono_literals;

executors::LocalConfig config() {
  executors::LocalConfig config;
  config.zygote_program = RELAY_ZYGOTE_PROGRAM;
  config.runtime_dir = RELAY_RUNTIME_DIR;
  config.ready_children = 2;
  return config;
}

// Every process below this one, as the kernel lists them.
std::vector<int> descendants(int pid) {
  std::vector<int> all;
  std::ifstream file(fmt::format("/proc/{0}/task/{0}/children", pid));
  for (int child = 0; file >> child;) {
    all.push_back(child);
    const std::vector<int> further = descendants(child);
    all.insert(all.end(), further.begin(), further.end());
  }
  return all;
}

class RealZygote : public testing::TestWithParam<Language> {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(std::string(RELAY_RUNTIME_DIR) + "/zygote-js.js"))
      GTEST_SKIP() << "no runtime in " RELAY_RUNTIME_DIR ": scripts/build-runtime makes it";
  }
  std::string pick(const char* js, const char* py) const { return GetParam() == Language::js ? js : py; }
  RunOutcome run(LocalRuns& runs, std::string code) {
    const Result<RunOutcome> outcome = runs.run(runs.request(GetParam(), std::move(code)));
    return outcome ? *outcome : RunOutcome{.exit_code = -1, .stderr_bytes = describe(outcome.error())};
  }
};

TEST_P(RealZygote, PrintsAndGivesItsValue) {
  LocalRuns runs(config());
  const RunOutcome outcome = run(runs, pick("console.log('hello'); 6 * 7", "print('hello')\n6 * 7"));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.stderr_bytes;
  EXPECT_EQ(outcome.stdout_bytes, "hello\n");
  EXPECT_EQ(outcome.value_json, "42");
  EXPECT_EQ(runs.executor->status().leaked_children, 0U);
}

TEST_P(RealZygote, EveryRunIsFresh) {
  LocalRuns runs(config());
  run(runs, pick("globalThis.left = 1", "import builtins; builtins.left = 1"));
  const RunOutcome second = run(runs, pick("typeof left", "import builtins; hasattr(builtins, 'left')"));
  EXPECT_EQ(second.value_json, pick("\"undefined\"", "false"));
}

TEST_P(RealZygote, EveryRunHasItsOwnRandomness) {
  LocalRuns runs(config());
  std::set<std::string> values;
  for (int i = 0; i < 4; ++i)
    values.insert(run(runs, pick("[Math.random(), crypto.randomUUID()].join()",
                                 "import random, uuid; f'{random.random()} {uuid.uuid4()}'"))
                      .value_json.value_or(""));
  EXPECT_EQ(values.size(), 4U);
}

TEST_P(RealZygote, TheDeadlineHoldsWhateverTheGuestDoes) {
  LocalRuns runs(config());
  auto request = runs.request(GetParam(), pick("console.log('so far'); while (true) {}",
                                               "print('so far', flush=True)\nwhile True: pass"));
  request.limits.timeout = 500ms;
  const auto outcome = runs.run(std::move(request));
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->exit_code, executors::kExitTimeout);
  EXPECT_EQ(outcome->stdout_bytes, "so far\n");
}

TEST_P(RealZygote, SessionsKeepTheirVariablesAndSayWhenTheyAreLost) {
  LocalRuns runs(config());
  const auto in_session = [&](std::string code, std::chrono::milliseconds timeout = 20s) {
    auto request = runs.request(GetParam(), std::move(code));
    request.session = "s";
    request.limits.timeout = timeout;
    auto outcome = runs.run(std::move(request));
    return outcome ? *outcome : RunOutcome{.exit_code = -1, .stderr_bytes = describe(outcome.error())};
  };
  EXPECT_EQ(in_session(pick("globalThis.kept = 5", "kept = 5")).exit_code, 0);
  EXPECT_EQ(in_session("kept + 1").value_json, "6");
  EXPECT_EQ(in_session(pick("while (true) {}", "while True: pass"), 300ms).exit_code,
            executors::kExitTimeout);
  const RunOutcome after = in_session("1");
  EXPECT_EQ(after.value_json, "1");
  EXPECT_NE(after.session_note.find("variables are gone"), std::string::npos);
}

TEST_P(RealZygote, AfterItsZygoteIsKilledTheNextRunWorks) {
  LocalRuns runs(config());
  EXPECT_EQ(run(runs, "1").value_json, "1");
  for (const int pid : descendants(::getpid())) ::kill(pid, SIGKILL);
  const RunOutcome next = run(runs, "2");  // its child was dead, or died, before it began: it gets another
  EXPECT_EQ(next.value_json, "2") << next.stderr_bytes << (next.error ? next.error->message : "");
  EXPECT_EQ(run(runs, "3").value_json, "3");
  EXPECT_EQ(runs.executor->status().leaked_children, 0U);
}

INSTANTIATE_TEST_SUITE_P(Languages, RealZygote, testing::Values(Language::js, Language::py),
                         [](const auto& language) {
                           return std::string(executors::name_of(language.param));
                         });

// Somebody below relay is killed at a random moment, twenty times: no run hangs, and in the end runs work and
// nobody is left.
TEST(Kills, AtRandomMomentsLeaveNothingBehind) {
  if (!std::filesystem::exists(std::string(RELAY_RUNTIME_DIR) + "/zygote-js.js"))
    GTEST_SKIP() << "no runtime";
  std::mt19937 random(20);
  {
    LocalRuns runs(config());
    int kills = 0;
    for (int round = 0; kills < 20 && round < 1000; ++round) {
      boost::asio::steady_timer killer(runs.loop, std::chrono::microseconds(random() % 20'000));
      killer.async_wait([&](const boost::system::error_code& error) {
        if (error)
          return;  // the run was quicker; the next one, and above all the last, is not to be hit instead
        const std::vector<int> all = descendants(::getpid());
        if (!all.empty() && ::kill(all[random() % all.size()], SIGKILL) == 0) ++kills;
      });
      const auto outcome =
          runs.run(runs.request(Language::js, "let n = 0; for (let i = 0; i < 1e5; i++) n += i; n"));
      if (outcome && outcome->exit_code == 0) EXPECT_EQ(outcome->value_json, "4999950000");
    }
    EXPECT_EQ(kills, 20);
    const auto last = runs.run(runs.request(Language::js, "'alive'"));
    ASSERT_TRUE(last) << last.error().message;
    EXPECT_EQ(last->value_json, "\"alive\"");
    EXPECT_EQ(runs.executor->status().leaked_children, 0U);
    // The loop reaps what stop() ended; a busy machine takes its time.
    runs.executor->stop();
    const auto deadline = std::chrono::steady_clock::now() + 30s;
    runs.loop.restart();
    while (!descendants(::getpid()).empty() && std::chrono::steady_clock::now() < deadline)
      runs.loop.run_one_for(10ms);
    EXPECT_TRUE(descendants(::getpid()).empty());
  }
}

}  // namespace
}  // namespace relay::hostile
