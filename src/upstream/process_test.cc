// Supervision of real processes: what they print, how they end, what is left of them.
#include <gmock/gmock.h>

#include "upstream/open_door_fixture.h"
#include "upstream/process_fixture.h"

namespace relay::upstream {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class ProcessTest : public ProcessFixture {};

TEST_F(ProcessTest, AServerIsStartedUsedAndGoneAfterwards) {
  EXPECT_EQ(call("echo", R"({"text":"hello"})"), "hello");
  const Status status = server()->status();
  EXPECT_EQ(status.phase, ServerPhase::ready);
  ASSERT_TRUE(status.pid);
  EXPECT_TRUE(is_alive(*status.pid));
  EXPECT_EQ(status.revision, protocol::Revision::v2025_11_25);
  const auto offer = loop.run(server()->offer());
  ASSERT_TRUE(offer);
  EXPECT_TRUE((*offer)->find_tool("crash"));
  EXPECT_TRUE(loop.run(server()->stop()));
  EXPECT_FALSE(is_alive(*status.pid));
}

TEST_F(ProcessTest, ItsEnvironmentIsWhatItNeedsAndNothingOfOurs) {
  environment["GITHUB_TOKEN"] = "ghp_not_for_everyone";
  environment["HOME"] = "/home/somebody";
  spec.env = {{"MINE", "${env:GITHUB_TOKEN}"}, {"PLAIN", "text"}};
  redactor->set_answers(secrets::AnswerRedaction::off);  // what it was given is what the test looks at
  const std::string seen = call("env");
  const auto parsed = json::parse_object(seen);
  ASSERT_TRUE(parsed) << seen;
  EXPECT_EQ(json::find_string(*parsed, "MINE"), "ghp_not_for_everyone");
  EXPECT_EQ(json::find_string(*parsed, "PLAIN"), "text");
  EXPECT_EQ(json::find_string(*parsed, "HOME"), "/home/somebody");
  EXPECT_FALSE(parsed->contains("GITHUB_TOKEN"));
  for (const auto& entry : *parsed) {
    const std::string name(entry.key());
    EXPECT_TRUE(environment.contains(name) || name == "MINE" || name == "PLAIN" || name == "LC_CTYPE")
        << name;
    EXPECT_FALSE(name.starts_with("RELAY") || name.starts_with("ASAN")) << name;
  }
}

TEST_F(ProcessTest, ACrashIsExplainedWithoutSecretsAndTheNextCallWorks) {
  environment["TOKEN"] = "sesame-open-please";
  spec.env = {{"SECRET", "${env:TOKEN}"}};
  const auto answer = request("crash");
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message,
              AllOf(HasSubstr("scripted"), HasSubstr("exited with code 3"),
                    HasSubstr("the disk of *** is on fire"), Not(HasSubstr("sesame"))));
  EXPECT_EQ(call("echo", R"({"text":"again"})"), "again");
  EXPECT_EQ(server()->status().restarts, 1);
  until([&] {
    return read(folder / "state/logs/scripted.log").find("the disk of *** is on fire") != std::string::npos;
  });
  EXPECT_THAT(read(folder / "state/logs/scripted.log"), Not(HasSubstr("sesame")));
}

TEST_F(ProcessTest, AServerThatCannotStartIsGivenUpWithItsLastLine) {
  spec.args.push_back("--die-at-start");
  const auto answer = request("echo");
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, AllOf(HasSubstr("exited with code 7"), HasSubstr("no API key")));
  EXPECT_EQ(server()->status().phase, ServerPhase::failed);
  EXPECT_THAT(server()->status().stderr_tail, testing::Contains("no API key"));
}

TEST_F(ProcessTest, AMissingProgramIsNamed) {
  spec.command = "no-such-server-anywhere";
  const auto answer = request("echo");
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("no-such-server-anywhere"));
}

TEST_F(ProcessTest, AMissingSecretStopsTheStartAndIsNamed) {
  spec.env = {{"KEY", "${env:NO_SUCH_VARIABLE_HERE}"}};
  const auto answer = request("echo");
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, AllOf(HasSubstr("KEY"), HasSubstr("NO_SUCH_VARIABLE_HERE")));
  EXPECT_EQ(heads->size(), 0U);
}

TEST_F(ProcessTest, AServerThatDoesNotSurviveTheProbeIsAskedInTheOldWayAndRemembered) {
  spec.args.push_back("--die-at-discover");
  EXPECT_EQ(call("echo", R"({"text":"alive"})"), "alive");
  EXPECT_EQ(server()->status().restarts, 0);
  until([&] { return read(folder / "state/eras.json").find("legacy") != std::string::npos; });
  EXPECT_TRUE(loop.run(server()->stop()));
  EXPECT_EQ(call("echo", R"({"text":"still"})"), "still");
  EXPECT_THAT(server()->status().stderr_tail, testing::IsEmpty()) << "it was not asked again";
}

TEST_F(ProcessTest, GarbageOnStdoutIsToleratedAndLogged) {
  EXPECT_EQ(call("garbage"), "survived");
  EXPECT_EQ(call("echo", R"({"text":"fine"})"), "fine");
  until([&] {
    return read(folder / "state/logs/scripted.log").find("this is no message") != std::string::npos;
  });
}

TEST_F(ProcessTest, AFloodOnStderrNeitherBlocksNorFillsAnything) {
  EXPECT_EQ(call("flood"), "dry");
  EXPECT_LE(server()->status().stderr_tail.size(), limits::kUpstreamStderrLines);
  until([&] { return std::filesystem::exists(folder / "state/logs/scripted.log"); });
  EXPECT_LE(std::filesystem::file_size(folder / "state/logs/scripted.log"), limits::kUpstreamLogBytes);
}

TEST_F(ProcessTest, AFrozenServerIsFoundOutAndReplaced) {
  pace.ping = 200ms;
  pace.timeouts = 2;
  const std::string before = call("pid");
  const auto supervisor = server()->status().pid;
  ASSERT_FALSE(request("freeze", "{}", 200ms));
  ASSERT_FALSE(request("echo", "{}", 200ms));
  until(
      [&] { return server()->status().phase == ServerPhase::ready && server()->status().pid != supervisor; });
  EXPECT_NE(call("pid"), before);
  EXPECT_FALSE(is_alive(std::stoi(before)));
}

TEST_F(ProcessTest, GrandchildrenGoWithTheirServer) {
  const int grandchild = std::stoi(call("grandchild"));
  EXPECT_TRUE(is_alive(grandchild));
  EXPECT_TRUE(loop.run(server()->stop()));
  until([&] {
    return !is_alive(grandchild) ||
           read("/proc/" + std::to_string(grandchild) + "/stat").find(") Z") != std::string::npos;
  });
}

TEST_F(ProcessTest, AGrandchildThatLeftTheSessionEndsWithItsServer) {
  const int detached = std::stoi(call("detach"));
  EXPECT_TRUE(is_alive(detached));
  EXPECT_TRUE(loop.run(server()->stop()));
  EXPECT_FALSE(is_alive(detached)) << "the supervisor waits for it";
}

TEST_F(ProcessTest, AGrandchildThatLeftTheSessionEndsAlsoWhenItsServerCrashes) {
  const int detached = std::stoi(call("detach"));
  ASSERT_FALSE(request("crash"));
  until([&] { return !is_alive(detached); });
}

TEST_F(ProcessTest, AGrandchildThatLeftTheSessionEndsWithADeafServer) {
  spec.args.push_back("--deaf");
  const int detached = std::stoi(call("detach"));
  EXPECT_TRUE(loop.run(server()->stop()));
  EXPECT_FALSE(is_alive(detached));
}

// A stand-in for relay, which is killed: it starts the supervisor as io::Child does.
TEST_F(ProcessTest, AGrandchildThatLeftTheSessionEndsWithARelayThatIsKilled) {
  const std::string script = R"py(
import ctypes, signal, subprocess, sys
supervisor = subprocess.Popen([sys.argv[1], "--supervise", "sh", "-c", "setsid sh -c 'echo $$; exec sleep 1000' & sleep 1000"],
                              preexec_fn=lambda: ctypes.CDLL(None).prctl(1, signal.SIGRTMIN))
supervisor.wait()
)py";
  auto stand_in = io::Child::spawn(
      loop.executor(),
      {.program = "python3", .args = {"-c", script, RELAY_CAGE}, .environment = {{"PATH", "/usr/bin:/bin"}}});
  ASSERT_TRUE(stand_in) << stand_in.error().message;
  io::LineReader lines(stand_in->out());
  const auto line = loop.run(lines.read_line());
  ASSERT_TRUE(line && *line);
  const int detached = std::stoi(**line);
  EXPECT_TRUE(is_alive(detached));
  ::kill(stand_in->pid(), SIGKILL);
  until([&] { return !is_alive(detached); });
  EXPECT_TRUE(loop.run(stand_in->wait()));
}

TEST_F(ProcessTest, ADeafServerIsEndedAllTheSame) {
  spec.args.push_back("--deaf");
  const int pid = std::stoi(call("pid"));
  EXPECT_TRUE(loop.run(server()->stop()));
  EXPECT_FALSE(is_alive(pid));
}

TEST_F(ProcessTest, ManyServersThatCrashHangAndFloodLeaveNothingBehind) {
  std::vector<ServerSpec> specs;
  for (int i = 0; i < 6; ++i) {
    specs.push_back(spec);
    specs.back().name = "s" + std::to_string(i);
  }
  fleet().apply(specs);
  int answered = 0;
  auto run = [](std::shared_ptr<Upstream> to, std::string tool, peer::RequestScope& who,
                int& count) -> io::Task<void> {
    peer::Outgoing outgoing{.method = "tools/call",
                            .params = "{\"name\":\"" + tool + "\",\"arguments\":{\"text\":\"x\"}}"};
    outgoing.timeout = tool == "hang" ? 300ms : 60s;
    const auto answer = co_await send_behind_door(*to, std::move(outgoing), who);
    if (!answer) EXPECT_THAT(answer.error().message, HasSubstr(to->spec().name));
    ++count;
    co_return Result<void>{};
  };
  const std::vector<std::string> tools{"echo", "crash", "hang", "flood", "garbage", "echo"};
  for (int round = 0; round < 2; ++round)
    for (std::size_t i = 0; i < specs.size(); ++i)
      io::spawn(loop.executor(), run(fleet().find(specs[i].name), tools[i], nobody, answered), "call");
  until([&] { return answered == 12; });
  EXPECT_TRUE(loop.run(fleet().stop()));
  EXPECT_EQ(io::count_children(), 0U);
}

TEST_F(ProcessTest, StoppingTheFleetDuringAStartLeavesNothing) {
  fleet().apply({spec});
  auto start = [](std::shared_ptr<Upstream> who) -> io::Task<void> {
    [[maybe_unused]] const auto offer = co_await who->offer();
    co_return Result<void>{};
  };
  io::spawn(loop.executor(), start(server()), "start");
  until([&] { return heads->size() == 1; });
  EXPECT_TRUE(loop.run(fleet().stop()));
  EXPECT_EQ(io::count_children(), 0U);
}

}  // namespace
}  // namespace relay::upstream
