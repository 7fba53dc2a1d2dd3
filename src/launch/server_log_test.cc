#include "launch/server_log.h"

#include <unistd.h>

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/limits.h"
#include "io/test_folder.h"
#include "io/test_loop.h"

namespace relay::launch {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class ServerLogTest : public testing::Test {
 protected:
  ServerLogTest() { redactor->learn("my-secret-token"); }
  static std::string read(const std::filesystem::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void settle() {
    for (int turn = 0; turn < 200; ++turn) ASSERT_TRUE(loop.run(io::sleep_for(std::chrono::milliseconds(1))));
  }

  io::TestFolder folder;
  io::TestLoop loop;
  io::ThreadPool pool{1};
  FakeClock clock;
  std::shared_ptr<secrets::Redactor> redactor = std::make_shared<secrets::Redactor>();
};

TEST_F(ServerLogTest, LinesComeOutWholeHoweverTheyWereCut) {
  const std::string text = "first\nsecond my-secret-token\r\n\nthird without end";
  for (const std::size_t step : {1UL, 2UL, 3UL, 7UL, 31UL, text.size()}) {
    ServerLog log(clock, redactor, nullptr);
    for (std::size_t at = 0; at < text.size(); at += step)
      log.stderr_bytes(std::string_view(text).substr(at, step));
    EXPECT_THAT(log.tail(), ElementsAre("first", "second ***"));
    log.stderr_end();
    EXPECT_EQ(log.last_line(), "third without end");
  }
}

TEST_F(ServerLogTest, OnlyTheLastLinesAreKeptAndEachIsShort) {
  ServerLog log(clock, redactor, nullptr);
  log.stderr_bytes(std::string(10 * limits::kUpstreamStderrLineBytes, 'x') + "\n");
  EXPECT_EQ(log.last_line().size(), limits::kUpstreamStderrLineBytes);
  for (int i = 0; i < 1000; ++i) log.stderr_bytes("line " + std::to_string(i) + "\n");
  EXPECT_EQ(log.tail().size(), limits::kUpstreamStderrLines);
  EXPECT_EQ(log.last_line(), "line 999");
  log.begin_process();
  EXPECT_EQ(log.last_line(), "");
}

TEST_F(ServerLogTest, AFloodIsDroppedAndCounted) {
  auto file = std::make_shared<LogFile>(loop.executor(), pool, folder / "flood.log");
  ServerLog log(clock, redactor, file);
  log.stderr_bytes("before\n");
  for (int i = 0; i < 1000; ++i) log.stderr_bytes(std::string(4095, 'f') + "\n");
  EXPECT_THAT(log.last_line(), HasSubstr("fff"));
  clock.advance(std::chrono::seconds(1));
  log.stderr_bytes("after\n");
  EXPECT_EQ(log.last_line(), "after");
  settle();
  EXPECT_THAT(read(folder / "flood.log"),
              AllOf(HasSubstr("stderr: before"), HasSubstr("came too fast and were dropped")));
}

TEST_F(ServerLogTest, InvalidBytesBecomeText) {
  ServerLog log(clock, redactor, nullptr);
  log.stderr_bytes("bad \xff\xfe bytes\n");
  EXPECT_EQ(log.last_line(), "bad \xEF\xBF\xBD\xEF\xBF\xBD bytes");
}

TEST_F(ServerLogTest, TheFileIsPrivateBoundedAndHoldsNoSecret) {
  const auto path = folder / "x.log";
  auto file = std::make_shared<LogFile>(loop.executor(), pool, path);
  ServerLog log(clock, redactor, file);
  log.note("started with my-secret-token");
  for (int round = 0; round < 12; ++round) {
    clock.advance(std::chrono::seconds(1));
    for (int i = 0; i < 200; ++i) log.stderr_bytes(std::string(1000, 'y') + "\n");
    settle();
  }
  EXPECT_LE(std::filesystem::file_size(path), limits::kUpstreamLogBytes);
  EXPECT_LE(std::filesystem::file_size(path.string() + ".1"), limits::kUpstreamLogBytes);
  EXPECT_EQ(std::filesystem::status(path).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  EXPECT_THAT(read(path), Not(HasSubstr("my-secret")));
  EXPECT_FALSE(std::filesystem::exists(path.string() + ".2"));
}

}  // namespace
}  // namespace relay::launch
