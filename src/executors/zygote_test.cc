// The supervision of a zygote, with a program in its place that this test is itself: see serve_as_fake().
#include "executors/zygote.h"

#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "base/fd_passing.h"
#include "base/json.h"
#include "io/test_folder.h"
#include "io/test_loop.h"
#include "sandbox/wire.h"

namespace relay::executors {
namespace {

using namespace std::chrono_literals;

constexpr int kControl = 3;

void say(const std::string& text, int fd = -1) {
  send_with_fd(kControl, text, fd);
}

void fork_child(std::int64_t id, int socket) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    const std::string ready = sandbox::make_frame(sandbox::FrameKind::ready, "{}");
    if (::write(socket, ready.data(), ready.size()) < 0) ::_exit(1);
    for (;;) ::pause();
  }
  const int pidfd = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  say("{\"op\":\"forked\",\"id\":" + std::to_string(id) + ",\"pid\":" + std::to_string(pid) + "}", pidfd);
}

struct Heard {
  std::string text;  // empty: relay hung up
  int fd = -1;
};

Heard hear() {
  char text[4096];
  ReceivedMessage received = receive_with_fd(kControl, text);
  const auto bytes = static_cast<std::size_t>(std::max<ssize_t>(received.bytes, 0));
  return {std::string(text, bytes), received.fd.release()};
}

// What a zygote does on its control socket. The first process of the kind "hangs-once" says that it is ready
// and then does nothing any more; a mark in the runtime directory tells its successors that they are not the
// first.
[[noreturn]] void serve_as_fake(const std::string& kind, const std::string& directory) {
  const std::string mark = directory + "/hung";
  const bool hangs = kind == "hangs-once" && !std::filesystem::exists(mark);
  if (hangs) std::ofstream(mark) << "1";
  say(R"({"op":"ready","bootMs":1,"level":"none","walls":[]})");
  while (hangs) ::pause();
  for (Heard heard = hear(); !heard.text.empty(); heard = hear()) {
    const Result<json::object> message = json::parse_object(heard.text);
    const std::string_view op = message ? json::find_string(*message, "op").value_or("") : "";
    if (op == "ping") say(R"({"op":"pong"})");
    if (op == "fork") fork_child(json::find_int(*message, "id").value_or(0), heard.fd);
    if (heard.fd >= 0) ::close(heard.fd);
  }
  ::_exit(0);
}

// Before main: a process that was started as a zygote never becomes a test.
const bool kIsFake = [] {
  std::ifstream file("/proc/self/cmdline");
  std::vector<std::string> args;
  for (std::string arg; std::getline(file, arg, '\0');) args.push_back(arg);
  if (args.size() >= 4 && args[2] == "--runtime-dir") serve_as_fake(args[1], args[3]);
  return false;
}();

class ZygoteTest : public testing::Test {
 protected:
  std::shared_ptr<Zygote> start(std::string kind, std::chrono::milliseconds ping) {
    ZygoteSpec spec;
    spec.program = std::filesystem::read_symlink("/proc/self/exe");
    spec.kind = std::move(kind);
    spec.runtime_dir = folder_.path();
    spec.ping = ping;
    return Zygote::start(loop_.get_executor(), std::move(spec));
  }
  // Turns the loop until the condition holds; a test that waits in vain fails at its time limit.
  template <class Condition>
  void turn_until(Condition condition) {
    const auto end = std::chrono::steady_clock::now() + 60s;
    while (!condition() && std::chrono::steady_clock::now() < end) loop_.run_one_for(100ms);
    ASSERT_TRUE(condition());
  }
  void stop(Zygote& zygote) {
    zygote.stop();
    loop_.run_for(100ms);
  }

  io::TestFolder folder_;
  boost::asio::io_context loop_{1};
};

TEST_F(ZygoteTest, OneThatDoesNotAnswerIsReplacedWithoutBeingAskedForAnything) {
  ASSERT_FALSE(kIsFake);
  const std::shared_ptr<Zygote> zygote = start("hangs-once", 300ms);
  turn_until([&] { return zygote->status().starts >= 2 && zygote->status().phase == ZygotePhase::ready; });
  EXPECT_NE(zygote->status().last_error.find("did not answer"), std::string::npos)
      << zygote->status().last_error;
  stop(*zygote);
}

TEST_F(ZygoteTest, WhoeverWaitsForAChildOfAHungOneGetsOneFromItsSuccessor) {
  const std::shared_ptr<Zygote> zygote = start("hangs-once", 300ms);
  std::optional<Result<RunChild>> child;
  auto body = [](std::shared_ptr<Zygote> from, std::optional<Result<RunChild>>& out) -> io::Task<void> {
    out = co_await from->fork();
    co_return Result<void>{};
  };
  io::spawn(loop_.get_executor(), body(zygote, child), "fork");
  turn_until([&] { return child.has_value(); });
  ASSERT_TRUE(*child) << child->error().message;
  EXPECT_TRUE((*child)->alive());
  EXPECT_GE(zygote->status().starts, 2U);
  child.reset();
  stop(*zygote);
}

// The pause is long enough for a slow machine, and the test longer than the pauses that a hung one gets.
TEST_F(ZygoteTest, OneThatAnswersIsLeftAlone) {
  const std::shared_ptr<Zygote> zygote = start("answers", 500ms);
  turn_until([&] { return zygote->status().phase == ZygotePhase::ready; });
  loop_.run_for((limits::kZygotePingsMissed + 3) * 500ms);
  EXPECT_EQ(zygote->status().starts, 1U);
  EXPECT_EQ(zygote->status().phase, ZygotePhase::ready);
  stop(*zygote);
}

}  // namespace
}  // namespace relay::executors
