// Servers in a cage that take what they can get: what they get, and what is said about it.
#include <gmock/gmock.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <sstream>

#include <fmt/format.h>

#include "launch/limit_watch.h"
#include "upstream/process_fixture.h"

namespace relay::upstream {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

enum class Level { group, rlimits };

/// Each test at both levels: with the control group that this machine gives, and with rlimits alone.
class CageLimitTest : public ProcessFixture, public testing::WithParamInterface<Level> {
 protected:
  CageLimitTest() {
    std::filesystem::create_directory(folder / "out");
    spec.cage = launch::CageSpec{.read = {RELAY_FIXTURES}, .write = {(folder / "out").string()}, .hosts = {}};
    other.name = "other";
    other.command = spec.command;
    other.args = spec.args;
    other.cage = spec.cage;
  }
  void SetUp() override {
    if (GetParam() == Level::rlimits) return;
    groups = sandbox::find_group_site("auto");
    if (groups.version == sandbox::GroupVersion::none)
      GTEST_SKIP() << "no control group is delegated here: " << groups.reason;
    if (groups.version == sandbox::GroupVersion::v2)
      GTEST_SKIP() << "a test does not rearrange the group that it was started in";
  }
  [[nodiscard]] static bool has_group() { return GetParam() == Level::group; }
  sandbox::CageLimits& limits() { return spec.cage->limits; }
  std::string log_text() { return read(folder / "state/logs/scripted.log"); }
  void expect_the_other_to_be_well() {
    fleet().apply({spec, other});
    peer::Outgoing outgoing{.method = "tools/call",
                            .params = R"({"name":"echo","arguments":{"text":"well"}})"};
    outgoing.timeout = 60s;
    const auto answer = loop.run(send_behind_door(*fleet().find("other"), std::move(outgoing), nobody));
    EXPECT_TRUE(answer && *answer) << (answer ? "refused" : answer.error().message);
  }
  ServerSpec other;
};

INSTANTIATE_TEST_SUITE_P(Levels, CageLimitTest, testing::Values(Level::group, Level::rlimits),
                         [](const auto& info) {
                           return std::string(info.param == Level::group ? "Group" : "Rlimits");
                         });

TEST_P(CageLimitTest, WhichWallHoldsItIsKnownAndLogged) {
  EXPECT_EQ(call("echo", R"({"text":"hello"})"), "hello");
  const auto cage = server()->status().cage;
  ASSERT_TRUE(cage);
  EXPECT_EQ(cage->version, groups.version);
  EXPECT_EQ(cage->memory, has_group() ? sandbox::HeldBy::group : sandbox::HeldBy::processes);
  EXPECT_EQ(cage->cpu == sandbox::HeldBy::group, has_group() && !groups.cpu.empty());
  EXPECT_EQ(cage->reason, has_group() ? "" : "the test has none");
  until([&] { return log_text().find("cage limits: memory 2048 MB") != std::string::npos; });
  EXPECT_THAT(log_text(), HasSubstr(has_group() ? "control group v1" : "weaker level: rlimits alone"));
}

TEST_P(CageLimitTest, AForkBombFillsItsOwnCageOnly) {
  limits().processes = 40;
  EXPECT_EQ(call("bomb"), "Resource temporarily unavailable");
  expect_the_other_to_be_well();
  if (has_group() && !groups.pids.empty())
    until([&] { return log_text().find("process limit of 40") != std::string::npos; });
  EXPECT_TRUE(loop.run(server()->stop()));
}

TEST_P(CageLimitTest, TenGigabytesAreNotToBeHad) {
  limits().memory_bytes = 160 * limits::kMiB;
  ASSERT_EQ(call("echo", R"({"text":"small"})"), "small");
  const auto answer = request("allocate", R"({"megabytes":10240})");
  if (has_group()) {
    ASSERT_FALSE(answer);
    EXPECT_THAT(answer.error().message, HasSubstr("was killed: memory limit of 160 MB"));
    until([&] { return log_text().find("killed: memory limit of 160 MB") != std::string::npos; });
  } else {
    ASSERT_TRUE(answer && *answer);
    EXPECT_THAT(json::write((*answer)->value()), HasSubstr("MemoryError"));
  }
  EXPECT_EQ(call("echo", R"({"text":"again"})"), "again");
  expect_the_other_to_be_well();
}

TEST_P(CageLimitTest, SharedMemoryCounts) {
  limits().memory_bytes = 160 * limits::kMiB;
  const auto answer = request("share", R"({"megabytes":10240})");
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("was killed: memory limit of 160 MB"));
  expect_the_other_to_be_well();
}

TEST_P(CageLimitTest, BusyLoopsOnAllProcessorsAreThrottledOrGiveWay) {
  limits().cpu_percent = 20;
  EXPECT_EQ(call("spin", R"({"processes":4})"), "spinning");
  // Below a quota it keeps our own priority.
  const int nice = has_group() && !groups.cpu.empty() ? ::getpriority(PRIO_PROCESS, 0) : 10;
  EXPECT_EQ(call("nice"), std::to_string(nice));
  expect_the_other_to_be_well();
  if (!has_group() || groups.cpu.empty()) return;
  const std::string statistics = fmt::format("{}/relay.{}.cage.scripted/cpu.stat", groups.cpu, ::getpid());
  until([&] {
    const std::string text = read(statistics);
    const std::size_t at = text.find("nr_throttled ");
    return at != std::string::npos && text[at + 13] != '0';
  });
}

TEST_P(CageLimitTest, ProcessorTimeEnds) {
  limits().cpu_time = 2s;
  ASSERT_EQ(call("echo", R"({"text":"quick"})"), "quick");
  // With a group the children count, too; without one each process has its own time.
  if (has_group() && !groups.usage.empty()) {
    EXPECT_EQ(call("spin", R"({"processes":2})"), "spinning");
    until([&] { return log_text().find("was killed: processor time limit of 2 s") != std::string::npos; });
  } else {
    EXPECT_THAT(call("spin", R"({"processes":0})"), HasSubstr("was killed: processor time limit of 2 s"));
  }
}

TEST_P(CageLimitTest, TmpHomeAndSharedMemoryAreFullTogether) {
  limits().scratch_bytes = 24 * limits::kMiB;
  environment["HOME"] = "/home/somebody";
  const std::string seen = call("fill", R"({"paths":["/tmp/a","/home/somebody/b","/dev/shm/c"]})");
  EXPECT_THAT(seen, HasSubstr("No space left on device"));
  EXPECT_LE(std::stoi(seen), 24);
  EXPECT_EQ(call("echo", R"({"text":"fine"})"), "fine");
}

TEST_P(CageLimitTest, AFloodOfFilesEndsAtTheLimit) {
  limits().scratch_files = 300;
  const std::string seen = call("many_files", R"({"directory":"/tmp"})");
  EXPECT_THAT(seen, HasSubstr("No space left on device"));
  EXPECT_LT(std::stoi(seen), 300);
}

TEST_P(CageLimitTest, AGiantFileIsRefusedAlsoWhereItMayWrite) {
  limits().file_bytes = 1 * limits::kMiB;
  EXPECT_THAT(call("giant_file", "{\"path\":" + json::quote((folder / "out/giant").string()) + "}"),
              HasSubstr("File too large"));
  EXPECT_LE(std::filesystem::file_size(folder / "out/giant"), 1 * limits::kMiB);
}

TEST_P(CageLimitTest, DescriptorsAreCounted) {
  limits().open_files = 64;
  const std::string seen = call("many_descriptors");
  EXPECT_THAT(seen, HasSubstr("Too many open files"));
  EXPECT_LT(std::stoi(seen), 64);
}

TEST_P(CageLimitTest, ItsGroupIsGoneAfterIt) {
  if (!has_group()) GTEST_SKIP() << "there is none";
  ASSERT_EQ(call("echo", R"({"text":"x"})"), "x");
  const std::string group = fmt::format("{}/relay.{}.cage.scripted", groups.memory, ::getpid());
  EXPECT_TRUE(std::filesystem::exists(group));
  EXPECT_TRUE(loop.run(server()->stop()));
  until([&] { return !std::filesystem::exists(group); });
}

class CageUserTest : public ProcessFixture {
 protected:
  CageUserTest() {
    std::filesystem::create_directory(folder / "out");
    spec.cage = launch::CageSpec{.read = {RELAY_FIXTURES}, .write = {(folder / "out").string()}, .hosts = {}};
  }
  /// User ids outside, of process 1 of the cage and of the server below it.
  std::vector<unsigned> users_outside() {
    std::vector<unsigned> users;
    std::string pid = std::to_string(server()->status().pid.value());
    for (int level = 0; level < 2; ++level) {
      std::ifstream children(fmt::format("/proc/{0}/task/{0}/children", pid));
      children >> pid;
      const std::string text = read("/proc/" + pid + "/status");
      const std::size_t at = text.find("Uid:\t");
      if (at == std::string::npos) return {};
      users.push_back(static_cast<unsigned>(std::stoul(text.substr(at + 5))));
    }
    return users;
  }
  [[nodiscard]] unsigned owner_of(const std::string& name) const {
    struct stat status{};
    return ::stat((folder / name).c_str(), &status) == 0 ? status.st_uid : 999'999;
  }
};

TEST_F(CageUserTest, RootsServersAreAnotherUserThatOwnsWhatIsDeclared) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root changes its user";
  std::ofstream(folder / "out/ours") << "for owners";
  ::chmod((folder / "out").c_str(), 0700);
  ::chmod((folder / "out/ours").c_str(), 0600);
  EXPECT_EQ(call("read", "{\"path\":" + json::quote((folder / "out/ours").string()) + "}"), "for owners");
  EXPECT_EQ(call("write", "{\"path\":" + json::quote((folder / "out/theirs").string()) + "}"), "ok");
  EXPECT_EQ(owner_of("out/theirs"), 0U) << "outside it is an ordinary file of the user that runs relay";
  EXPECT_THAT(users_outside(), testing::ElementsAre(testing::Gt(0x70000000U), testing::Gt(0x70000000U)));
  EXPECT_THAT(call("whoami"), HasSubstr("Uid:\t1000\t1000\t1000\t1000"));
}

TEST_F(CageUserTest, TwoCagesOfRootAreTwoUsers) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root changes its user";
  ASSERT_EQ(call("echo", R"({"text":"x"})"), "x");
  const auto first = users_outside();
  EXPECT_TRUE(loop.run(server()->stop()));
  ASSERT_EQ(call("echo", R"({"text":"x"})"), "x");
  EXPECT_NE(users_outside(), first);
}

TEST_F(CageUserTest, TheWeakerUserHasToBeAskedForAndIsLogged) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root changes its user";
  spec.cage->user = sandbox::CageUser::own;
  ASSERT_EQ(call("echo", R"({"text":"x"})"), "x");
  EXPECT_THAT(users_outside(), testing::ElementsAre(0U, 0U));
  EXPECT_THAT(call("whoami"), HasSubstr("CapEff:\t0000000000000000"));
  until([&] {
    return read(folder / "state/logs/scripted.log").find("weaker level: its processes are root") !=
           std::string::npos;
  });
}

/// A filesystem without idmapped mounts at a directory, while it lives.
class PlainFilesystem {
 public:
  explicit PlainFilesystem(std::string directory) : directory_(std::move(directory)) {
    mounted_ = ::mount("plain", directory_.c_str(), "ramfs", MS_NOSUID | MS_NODEV, nullptr) == 0;
  }
  ~PlainFilesystem() {
    if (mounted_) ::umount2(directory_.c_str(), MNT_DETACH);
  }
  PlainFilesystem(const PlainFilesystem&) = delete;
  PlainFilesystem& operator=(const PlainFilesystem&) = delete;
  [[nodiscard]] bool mounted() const { return mounted_; }

 private:
  std::string directory_;
  bool mounted_ = false;
};

TEST_F(CageUserTest, APathThatCannotBeMappedIsReadButNotWritten) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root changes its user";
  const std::string directory = (folder / "out").string();
  const PlainFilesystem plain(directory);
  if (!plain.mounted()) GTEST_SKIP() << "this root may not mount";
  std::ofstream(folder / "out/open") << "for everybody";
  std::ofstream(folder / "out/closed") << "for owners";
  ::chmod((folder / "out/closed").c_str(), 0600);
  const auto refused = request("echo");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, testing::AllOf(HasSubstr("wall unprivileged_user"),
                                                      HasSubstr(directory), HasSubstr("sandbox.user")));
  spec.name = "reader";
  spec.cage->write.clear();
  spec.cage->read.push_back(directory);
  EXPECT_EQ(call("read", "{\"path\":" + json::quote(directory + "/open") + "}"), "for everybody");
  EXPECT_THAT(call("read", "{\"path\":" + json::quote(directory + "/closed") + "}"), HasSubstr("Permission"));
}

TEST_F(CageUserTest, NoFileCanBeMadeThatRunsAsItsOwner) {
  const std::string seen = call("set_id", "{\"directory\":" + json::quote((folder / "out").string()) + "}");
  const auto said = json::parse_object(seen);
  ASSERT_TRUE(said) << seen;
  EXPECT_GE(said->size(), 18U);
  for (const auto& attempt : *said) {
    const std::string name(attempt.key());
    const std::string outcome(json::view(attempt.value().as_string()));
    EXPECT_EQ(outcome, name.starts_with("openat2") ? "Function not implemented" : "Operation not permitted")
        << name;
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder / "out"))
    EXPECT_EQ(
        entry.status().permissions() & (std::filesystem::perms::set_uid | std::filesystem::perms::set_gid),
        std::filesystem::perms::none)
        << entry.path();
}

TEST_F(CageUserTest, TheSystemCallsOf32BitProgramsLeadNowhere) {
#ifndef __x86_64__
  GTEST_SKIP() << "this architecture has no second set of numbers";
#endif
  const auto answer =
      request("chmod_as_32_bit", "{\"path\":" + json::quote((folder / "out/old").string()) + "}");
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("SIGSYS"));
  EXPECT_EQ(std::filesystem::status(folder / "out/old").permissions() & std::filesystem::perms::set_uid,
            std::filesystem::perms::none);
}

TEST_F(CageUserTest, NoMountObeysSetUidBits) {
  const std::string mounts = call("read", R"({"path":"/proc/self/mountinfo"})");
  std::istringstream lines(mounts);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) EXPECT_THAT(line, HasSubstr("nosuid"));
  EXPECT_GT(count, 8);
}

TEST_F(CageUserTest, AGroupThatTheConfigurationNamesHasToBeThere) {
  groups = sandbox::find_group_site((folder / "no-group").string());
  const auto answer = request("echo");
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("wall control_group"));
}

TEST(LimitWatchTest, ExplainsWhatOnlyASignalTells) {
  const SystemClock clock;
  const auto log = std::make_shared<launch::ServerLog>(clock, std::make_shared<secrets::Redactor>(), nullptr);
  launch::LimitWatch watch({.cpu_time = 3s, .file_bytes = 5 * limits::kMiB}, std::nullopt, log);
  EXPECT_FALSE(watch.look());
  EXPECT_EQ(watch.explain({.code = {}, .signal = SIGXCPU}), "was killed: processor time limit of 3 s");
  EXPECT_EQ(watch.explain({.code = {}, .signal = SIGXFSZ}), "was killed: file size limit of 5 MB");
  EXPECT_EQ(watch.explain({.code = {}, .signal = SIGKILL}), "was killed by SIGKILL");
  EXPECT_EQ(watch.explain({.code = 3, .signal = {}}), "exited with code 3");
}

}  // namespace
}  // namespace relay::upstream
