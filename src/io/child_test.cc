#include "io/child.h"

#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/spawn.h"
#include "io/test_loop.h"

namespace relay::io {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

ChildSpec shell(std::string script) {
  return {.program = "sh", .args = {"-c", std::move(script)}, .environment = {{"PATH", "/usr/bin:/bin"}}};
}

Task<std::string> read_all(asio::posix::stream_descriptor& stream) {
  LineReader reader(stream);
  std::string text;
  for (;;) {
    RELAY_CO_TRY(auto line, co_await reader.read_line());
    if (!line) co_return text;
    text += *line + "\n";
  }
}

TEST(LineReader, SkipsALineOverTheLimitAndGoesOn) {
  TestLoop loop;
  auto child = Child::spawn(
      loop.executor(),
      shell("echo short; head -c 50000 /dev/zero | tr '\\0' x; echo; echo 0123456789; printf 01234567890"));
  ASSERT_TRUE(child) << child.error().message;
  std::size_t skipped = 0;
  LineReader reader(child->out(), 10, [&](std::string_view bytes) { skipped += bytes.size(); });
  EXPECT_EQ(loop.run(reader.read_line()), "short");
  EXPECT_EQ(loop.run(reader.read_line()).error().kind, ErrorKind::too_large);
  EXPECT_EQ(skipped, 50000U);
  EXPECT_EQ(loop.run(reader.read_line()), "0123456789");
  EXPECT_EQ(loop.run(reader.read_line()).error().kind, ErrorKind::too_large) << "without its newline too";
  EXPECT_EQ(loop.run(reader.read_line()), std::nullopt);
  EXPECT_TRUE(loop.run(child->wait()));
}

std::size_t open_fd_count() {
  std::size_t count = 0;
  DIR* directory = ::opendir("/proc/self/fd");
  while (::readdir(directory)) ++count;
  ::closedir(directory);
  return count;
}

TEST(Child, EchoesThroughItsPipesAndSaysHowItEnded) {
  TestLoop loop;
  auto child = Child::spawn(loop.executor(), shell("cat; echo done >&2; exit 3"));
  ASSERT_TRUE(child) << child.error().message;
  ASSERT_TRUE(loop.run(write_all(child->in(), "one\ntwo\n")));
  child->close_in();
  EXPECT_EQ(loop.run(read_all(child->out())), "one\ntwo\n");
  EXPECT_EQ(loop.run(read_all(child->err())), "done\n");
  const auto status = loop.run(child->wait());
  ASSERT_TRUE(status);
  EXPECT_EQ(status->code, 3);
  EXPECT_EQ(describe(*status), "exited with code 3");
}

TEST(Child, AMissingProgramIsAnErrorAndNotAChild) {
  TestLoop loop;
  const auto child = Child::spawn(loop.executor(), {.program = "no-such-program-here"});
  ASSERT_FALSE(child);
  EXPECT_EQ(child.error().kind, ErrorKind::not_found);
  EXPECT_THAT(child.error().message, HasSubstr("no-such-program-here"));
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
}

TEST(Child, SeesOnlyTheEnvironmentAndDescriptorsItWasGiven) {
  TestLoop loop;
  ::setenv("RELAY_TEST_SECRET", "leaked", 1);
  const Fd stray(::open("/dev/null", O_RDONLY));  // no O_CLOEXEC: as a library might leave it
  auto child = Child::spawn(loop.executor(), shell("env; ls /proc/self/fd | tr '\\n' ' '"));
  ASSERT_TRUE(child);
  const auto text = loop.run(read_all(child->out()));
  ASSERT_TRUE(text);
  EXPECT_THAT(*text, testing::Not(HasSubstr("leaked")));
  EXPECT_THAT(*text, HasSubstr("0 1 2 3 \n"));  // 3 is the directory that ls itself reads
}

TEST(Child, StopEscalatesToKillForOneThatIgnoresTerm) {
  TestLoop loop;
  auto child = Child::spawn(loop.executor(), shell("trap '' TERM; echo up; while :; do sleep 0.05; done"));
  ASSERT_TRUE(child);
  LineReader reader(child->out());
  ASSERT_EQ(loop.run(reader.read_line()), "up");
  const auto status = loop.run(child->stop(100ms));
  ASSERT_TRUE(status);
  EXPECT_EQ(status->signal, SIGKILL);
}

TEST(Child, OneThatEndsOthersFirstIsToldByItsOwnSignal) {
  TestLoop loop;
  ChildSpec spec = shell("trap 'exit 7' USR1; trap '' TERM; echo ready; while :; do sleep 0.02; done");
  spec.end_signal = SIGUSR1;
  auto child = Child::spawn(loop.executor(), spec);
  ASSERT_TRUE(child) << child.error().message;
  LineReader lines(child->out());
  ASSERT_TRUE(loop.run(lines.read_line()));
  const auto status = loop.run(child->stop(10ms));
  ASSERT_TRUE(status);
  EXPECT_EQ(status->code, 7);
}

TEST(Child, AProgramIsFoundAsItWouldBeStarted) {
  EXPECT_EQ(find_program({.program = "sh", .environment = {{"PATH", "/nowhere:/bin"}}}), "/bin/sh");
  EXPECT_EQ(find_program({.program = "/bin/sh"}), "/bin/sh");
  EXPECT_EQ(find_program({.program = "no-such-program-here"}).error().kind, ErrorKind::not_found);
  EXPECT_FALSE(find_program({.program = "/etc"}));
  EXPECT_FALSE(find_program({.program = "/etc/passwd"})) << "not executable";
}

TEST(Child, StopTakesTheWholeGroupWithIt) {
  TestLoop loop;
  auto child = Child::spawn(loop.executor(), shell("sleep 1000 & echo $!; wait"));
  ASSERT_TRUE(child);
  LineReader reader(child->out());
  const auto line = loop.run(reader.read_line());
  ASSERT_TRUE(line && *line);
  const int grandchild = std::stoi(**line);
  ASSERT_TRUE(loop.run(child->stop(50ms)));
  // The grandchild is not ours to reap; it is gone, or a zombie that its reaper has not taken yet.
  for (int i = 0; i < 200 && ::kill(grandchild, 0) == 0; ++i) ::usleep(10'000);
  EXPECT_NE(::kill(grandchild, 0), 0);
}

TEST(Child, DroppingARunningChildLeavesNoZombieAndNoDescriptor) {
  TestLoop loop;
  ASSERT_TRUE(loop.run(sleep_for(1ms)));  // the loop opens its own descriptors when it first waits
  const std::size_t before = open_fd_count();
  for (int i = 0; i < 20; ++i) {
    auto child = Child::spawn(loop.executor(), {.program = "sleep", .args = {"1000"}});
    ASSERT_TRUE(child);
  }
  const auto gone = [] { return ::waitpid(-1, nullptr, WNOHANG) == -1; };
  for (int i = 0; i < 500 && !gone(); ++i) {
    loop.settle();
    ::usleep(2'000);
  }
  loop.settle();
  EXPECT_TRUE(gone());
  EXPECT_EQ(open_fd_count(), before);
}

TEST(Child, FurtherDescriptorsArriveUnderTheirNumbers) {
  TestLoop loop;
  auto ends = open_pipe();
  ASSERT_TRUE(ends);
  ChildSpec spec = shell("echo hello >&3");
  spec.fds[3] = ends->second.get();
  auto child = Child::spawn(loop.executor(), spec);
  ASSERT_TRUE(child);
  ends->second.reset();
  char text[16] = {};
  EXPECT_EQ(::read(ends->first.get(), text, sizeof text), 6);
  EXPECT_STREQ(text, "hello\n");
  ASSERT_TRUE(loop.run(child->wait()));
}

TEST(LineReader, RefusesALineOverTheLimit) {
  TestLoop loop;
  auto child = Child::spawn(loop.executor(), shell("head -c 100000 /dev/zero | tr '\\0' x"));
  ASSERT_TRUE(child);
  LineReader reader(child->out(), 1000);
  const auto line = loop.run(reader.read_line());
  ASSERT_FALSE(line);
  EXPECT_EQ(line.error().kind, ErrorKind::too_large);
}

TEST(LineReader, GivesTheLastLineWithoutItsNewline) {
  TestLoop loop;
  auto child = Child::spawn(loop.executor(), shell("printf 'a\\n\\nb'"));
  ASSERT_TRUE(child);
  EXPECT_EQ(loop.run(read_all(child->out())), "a\n\nb\n");
}

}  // namespace
}  // namespace relay::io
