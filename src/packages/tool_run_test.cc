// Programs in the cage of a package tool that try what an installation script would try.
#include "packages/tool_run.h"

#include <gmock/gmock.h>

#include <fstream>

#include "io/test_folder.h"
#include "packages/loop_fixture.h"

namespace relay::packages {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Remembers its warnings.
class WarningLog final : public Log {
 public:
  void write(LogLevel level, std::string_view message, std::initializer_list<LogField>) override {
    if (level == LogLevel::warn) warnings.emplace_back(message);
  }
  std::vector<std::string> warnings;
};

class ToolRun : public LoopFixture {
 protected:
  ToolRun() {
    std::filesystem::create_directory(folder / "work");
    std::ofstream(folder / "secret") << "s3cret";
    options =
        tools_of_test({{"HOME", folder.path().string()}, {"TOKEN", "s3cret"}, {"PATH", "/usr/bin:/bin"}});
    options.log = &log;
  }
  Result<ToolOutcome> sh(const std::string& script,
                         std::chrono::milliseconds timeout = std::chrono::minutes(5)) {
    ToolRunner runner(options, clock);
    ToolCall call{.program = "/bin/sh", .args = {"-c", script}, .directory = (folder / "work").string()};
    call.phase = "the test";
    call.timeout = timeout;
    call.cage = cage;
    call.cage.write = {(folder / "work").string()};
    return run(runner.run(effects(), call, {}));
  }
  std::string error_of(const std::string& script) {
    const auto outcome = sh(script);
    return outcome ? "it ran: " + outcome->out + outcome->err : outcome.error().message;
  }

  io::TestFolder folder;
  SystemClock clock;
  WarningLog log;
  ToolOptions options;
  launch::CageSpec cage;
};

TEST_F(ToolRun, AFileThatIsNotShownCannotBeRead) {
  const auto outcome = sh(fmt::format("cat {}/secret /etc/shadow ~/secret", folder.path().string()));
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_FALSE(outcome->status.clean());
  EXPECT_EQ(outcome->out, "");
  EXPECT_THAT(outcome->err, HasSubstr("No such file"));
}

TEST_F(ToolRun, TheHomeIsEmptyAndTheEnvironmentHasNoSecret) {
  const auto outcome = sh("ls -A ~ && env");
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_TRUE(outcome->status.clean()) << outcome->err;
  EXPECT_THAT(outcome->out, Not(HasSubstr("s3cret")));
  EXPECT_THAT(outcome->out, Not(HasSubstr("TOKEN")));
  EXPECT_THAT(outcome->out, HasSubstr("HOME=/relay-home\n"));
}

TEST_F(ToolRun, WhatIsWrittenIsInItsOwnDirectoryAndIsOurs) {
  ASSERT_TRUE(sh("echo made > made; echo lost > /tmp/lost; echo lost > ~/lost"));
  EXPECT_TRUE(std::filesystem::exists(folder / "work/made"));
  EXPECT_TRUE(std::ofstream(folder / "work/made").good());
  EXPECT_FALSE(std::filesystem::exists("/tmp/lost"));
}

TEST_F(ToolRun, AHostThatItMayNotReachIsNamed) {
  cage.hosts = {"registry.example:443"};
  const auto outcome = sh("exec 2>&1; curl -sS http://127.0.0.1:9/ ; curl -sS https://evil.example/; exit 1");
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_THAT(outcome->refused, testing::Contains(HasSubstr("127.0.0.1:9 is not among the hosts")));
  EXPECT_THAT(outcome->refused, testing::Contains(HasSubstr("evil.example:443 is not among the hosts")));
}

TEST_F(ToolRun, WithoutHostsThereIsNoNetwork) {
  const auto outcome = sh("env | grep -i proxy; curl -sS http://127.0.0.1:9/");
  ASSERT_TRUE(outcome);
  EXPECT_FALSE(outcome->status.clean());
  EXPECT_EQ(outcome->out.find("PROXY=http"), std::string::npos) << outcome->out;
}

TEST_F(ToolRun, TheLimitThatEndedItIsNamed) {
  options.limits.file_bytes = 1 * limits::kMiB;
  EXPECT_THAT(error_of("exec head -c 3000000 /dev/zero > big"),
              HasSubstr("the test was killed: file size limit of 1 MB"));
  options.limits.scratch_bytes = 1 * limits::kMiB;
  EXPECT_THAT(error_of("head -c 3000000 /dev/zero > /tmp/a; head -c 900000 /dev/zero > /tmp/b; head -c "
                       "900000 /dev/zero > /tmp/c"),
              HasSubstr("the test ran out of space"));
}

TEST_F(ToolRun, MemoryHasALimitWithoutAControlGroupToo) {
  options.limits.memory_bytes = 64 * limits::kMiB;
  const auto outcome = sh("head -c 500000000 /dev/zero | tail -c 400000000 > /dev/null");
  EXPECT_FALSE(outcome && outcome->status.clean());
}

TEST_F(ToolRun, OneThatTakesTooLongIsEnded) {
  const auto outcome = sh("sleep 60", std::chrono::milliseconds(300));
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().kind, ErrorKind::dependency);
  EXPECT_THAT(outcome.error().message, HasSubstr("the test took longer than"));
}

TEST_F(ToolRun, WithoutACageNothingRunsAndTheKeyIsNamed) {
  options.parts.cage_program = folder / "no-cage";
  std::ofstream(folder / "no-cage")
      << "#!/bin/sh\necho 'relay-cage: wall user_namespace: refused' >&2\nexit 125\n";
  std::filesystem::permissions(folder / "no-cage", std::filesystem::perms::owner_all);
  const std::string error = error_of("echo ran > ran");
  EXPECT_THAT(error, HasSubstr("wall user_namespace: refused"));
  EXPECT_THAT(error, HasSubstr("executor.walls \"reduced\""));
  EXPECT_FALSE(std::filesystem::exists(folder / "work/ran"));
}

TEST_F(ToolRun, WithReducedWallsItRunsWithoutACageAndTheLogSaysSo) {
  options.parts.cage_program = folder / "no-cage";
  options.without_cage = WithoutCage::run;
  // A cage is refused; supervising works.
  std::ofstream(folder / "no-cage") << "#!/bin/sh\nif [ \"$1\" = --supervise ]; then shift; exec \"$@\"; fi\n"
                                       "echo 'relay-cage: wall user_namespace: refused' >&2\nexit 125\n";
  std::filesystem::permissions(folder / "no-cage", std::filesystem::perms::owner_all);
  const auto outcome = sh("echo ran; env");
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_THAT(outcome->out, HasSubstr("ran\n"));
  EXPECT_THAT(outcome->out, Not(HasSubstr("TOKEN")));
  ASSERT_EQ(log.warnings.size(), 1U);
  EXPECT_THAT(log.warnings[0], HasSubstr("without a cage"));
}

TEST_F(ToolRun, WithReducedWallsACageThatStandsIsUsedWhateverTheToolSays) {
  options.without_cage = WithoutCage::run;
  const std::string error =
      error_of(fmt::format("cat {}/secret; echo 'relay-cage: no' >&2; exit 125", folder.path().string()));
  EXPECT_THAT(error, HasSubstr("cannot run in its cage: no"));
  EXPECT_THAT(log.warnings, testing::IsEmpty());
}

TEST_F(ToolRun, ItIsAnEffectOfTheCall) {
  cage.hosts = {"registry.example:443"};
  ASSERT_TRUE(sh("exit 3"));
  const std::vector<json::object> lines = recorded.lines();
  ASSERT_FALSE(lines.empty());
  EXPECT_THAT(json::write(lines.back()), HasSubstr(R"("hosts":["registry.example:443"])"));
  EXPECT_THAT(json::write(lines.back()), HasSubstr(R"("phase":"the test")"));
  EXPECT_EQ(json::find_string(lines.back(), "outcome"), "error");
}

}  // namespace
}  // namespace relay::packages
