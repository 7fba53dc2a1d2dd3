#include "sandbox/control_group.h"

#include <gtest/gtest.h>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "base/limits.h"

namespace relay::sandbox {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHybrid =
    "24 1 0:22 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
    "25 1 0:23 / /sys/fs/cgroup/pids rw shared:7 - cgroup cgroup rw,pids\n"
    "26 1 0:24 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";

TEST(GroupHomes, AreFoundInEachHierarchy) {
  const GroupHomes homes = parse_group_homes(kHybrid, "8:pids:/\n4:memory:/a/b\n0::/user.slice\n");
  EXPECT_EQ(homes, (GroupHomes{"/sys/fs/cgroup/unified/user.slice", "/sys/fs/cgroup/memory/a/b",
                               "/sys/fs/cgroup/pids"}));
}

TEST(GroupHomes, ProcessorTimeHasAQuotaAndAccounts) {
  const GroupHomes homes = parse_group_homes(
      "1 2 0:3 / /cg/both rw - cgroup cgroup rw,cpu,cpuacct\n1 2 0:4 / /cg/set rw - cgroup cgroup "
      "rw,cpuset\n",
      "4:cpu,cpuacct:/x\n5:cpuset:/y\n");
  EXPECT_EQ(homes.cpu, "/cg/both/x");
  EXPECT_EQ(homes.usage, "/cg/both/x");
}

TEST(GroupHomes, ControllersMayShareAHierarchy) {
  const GroupHomes homes =
      parse_group_homes("1 2 0:3 / /cg rw - cgroup cgroup rw,memory,pids\n", "4:pids,memory:/x\n");
  EXPECT_EQ(homes, (GroupHomes{"", "/cg/x", "/cg/x"}));
}

TEST(GroupHomes, AContainersMountBeginsBelowTheTop) {
  constexpr std::string_view kMount = "1 2 0:3 /docker/abc /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
  EXPECT_EQ(parse_group_homes(kMount, "0::/docker/abc/inner\n").unified, "/sys/fs/cgroup/inner");
  EXPECT_EQ(parse_group_homes(kMount, "0::/docker/abcdef\n").unified, "") << "out of sight";
}

TEST(GroupHomes, NonsenseGivesNone) {
  for (const std::string_view text :
       {"", "\n\n", "1 2 3", "- - - -", "1 2 0:3 / /cg rw - cgroup2", ":::", "4:memory"})
    EXPECT_EQ(parse_group_homes(text, text), GroupHomes{}) << text;
}

// A tree of plain files that looks like a hierarchy: what is written where.
class FakeHierarchy : public testing::Test {
 protected:
  FakeHierarchy() {
    std::string pattern = (fs::temp_directory_path() / "groups.XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
  }
  ~FakeHierarchy() override { fs::remove_all(root_); }
  void put(const std::string& name, std::string_view text = "") const { std::ofstream(root_ / name) << text; }
  [[nodiscard]] std::string get(const std::string& name) const {
    std::ifstream file(root_ / name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  fs::path root_;
};

TEST_F(FakeHierarchy, TheUnifiedOneComesFirstWhenItLimitsMemory) {
  for (const char* name : {"cgroup.procs", "cgroup.subtree_control"}) put(name);
  put("cgroup.controllers", "cpu memory pids\n");
  const GroupSite site =
      find_group_site("auto", {.unified = root_.string(), .memory = "/nowhere", .pids = ""});
  EXPECT_EQ(site, (GroupSite{.version = GroupVersion::v2,
                             .memory = root_.string(),
                             .pids = root_.string(),
                             .cpu = root_.string(),
                             .usage = root_.string()}));
  EXPECT_EQ(prepare_group_site(site), site);
  EXPECT_EQ(get("cgroup.subtree_control"), "+memory +pids +cpu");
}

TEST_F(FakeHierarchy, WithoutAMemoryControllerTheOldOneIsUsed) {
  put("cgroup.controllers", "cpu\n");
  const GroupSite site =
      find_group_site("auto", {.unified = root_.string(), .memory = root_.string(), .pids = "/nowhere"});
  EXPECT_EQ(site, (GroupSite{.version = GroupVersion::v1, .memory = root_.string()}));
}

TEST_F(FakeHierarchy, WithoutAnythingTheReasonIsSaid) {
  put("cgroup.controllers", "cpu\n");
  EXPECT_NE(find_group_site("auto", {.unified = root_.string(), .memory = "", .pids = ""})
                .reason.find("no memory controller"),
            std::string::npos);
  EXPECT_EQ(find_group_site("auto", {}).reason, "no control groups are mounted");
  EXPECT_EQ(find_group_site("off", {.unified = root_.string(), .memory = root_.string(), .pids = ""}).version,
            GroupVersion::none);
  const GroupSite named = find_group_site(root_.string() + "/absent", {});
  EXPECT_EQ(named.version, GroupVersion::none);
  EXPECT_TRUE(named.required);
}

TEST_F(FakeHierarchy, TheGroupsOfDeadProcessesAreRemovedAndNoOthers) {
  const pid_t gone = ::fork();
  if (gone == 0) ::_exit(0);
  ASSERT_EQ(::waitpid(gone, nullptr, 0), gone);
  const std::string abandoned = fmt::format("relay.{}.js", gone);
  const std::string ours = fmt::format("relay.{}.js", ::getpid());
  for (const std::string& name :
       {abandoned, ours, std::string("relay.x.js"), std::string("relay.4194304"), std::string("other")})
    fs::create_directory(root_ / name);
  remove_abandoned_groups({.version = GroupVersion::v1, .memory = root_.string()});
  EXPECT_FALSE(fs::exists(root_ / abandoned));
  for (const std::string& name :
       {ours, std::string("relay.x.js"), std::string("relay.4194304"), std::string("other")})
    EXPECT_TRUE(fs::exists(root_ / name)) << name;
}

// The real kernel, where it lets us.
class RealGroup : public testing::Test {
 protected:
  void SetUp() override {
    site_ = find_group_site("auto");
    if (site_.version == GroupVersion::none)
      GTEST_SKIP() << "no control group is delegated here: " << site_.reason;
    if (site_.version == GroupVersion::v2)
      GTEST_SKIP() << "a test does not rearrange the group that it was started in";
  }
  // How a process in the group ends that writes to so much memory, shared so that no rlimit counts it.
  static int ending_of_use(const ControlGroup& group, std::size_t bytes) {
    const pid_t child = ::fork();
    if (child == 0) {
      if (!join_groups(group.directories())) ::_exit(2);
      auto* const memory = static_cast<char*>(
          ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
      for (std::size_t at = 0; at < bytes; at += 4096) memory[at] = 1;
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }
  GroupSite site_;
};

TEST_F(RealGroup, EndsWhoeverUsesMoreThanItsLimit) {
  const Result<ControlGroup> group = ControlGroup::make(site_, "test", {.processes = 8});
  ASSERT_TRUE(group) << group.error().message;
  ASSERT_TRUE(group->limit_memory(24 * limits::kMiB));
  EXPECT_EQ(ending_of_use(*group, 4 * limits::kMiB), 0);
  EXPECT_EQ(group->events().oom_kills, 0U);
  EXPECT_EQ(ending_of_use(*group, 96 * limits::kMiB), 137);
  EXPECT_EQ(group->events().oom_kills, 1U);
}

TEST_F(RealGroup, LimitsProcessorTimeAndCountsIt) {
  if (site_.cpu.empty() || site_.usage.empty()) GTEST_SKIP() << "the cpu controller is not delegated here";
  const Result<ControlGroup> group = ControlGroup::make(site_, "test", {.processes = 8, .cpu_percent = 25});
  ASSERT_TRUE(group) << group.error().message;
  ASSERT_TRUE(group->limits_cpu());
  std::ifstream quota(fmt::format("{}/relay.{}.test/cpu.cfs_quota_us", site_.cpu, ::getpid()));
  std::size_t microseconds = 0;
  EXPECT_TRUE(quota >> microseconds);
  EXPECT_EQ(microseconds, 25'000U);
  EXPECT_EQ(ending_of_use(*group, 8 * limits::kMiB), 0);
  EXPECT_GT(group->events().cpu_used.value_or(std::chrono::microseconds(0)).count(), 0);
}

TEST_F(RealGroup, AZygotesGroupHasNoSayOverProcessorTime) {
  const Result<ControlGroup> group = ControlGroup::make(site_, "test", {.processes = 8});
  ASSERT_TRUE(group) << group.error().message;
  EXPECT_FALSE(group->limits_cpu());
  EXPECT_FALSE(group->events().cpu_used);
  EXPECT_LE(group->directories().size(), 2U);
}

TEST_F(RealGroup, LimitsProcesses) {
  if (site_.pids.empty()) GTEST_SKIP() << "the pids controller is not delegated here";
  const Result<ControlGroup> group = ControlGroup::make(site_, "test", {.processes = 1});
  ASSERT_TRUE(group) << group.error().message;
  const pid_t child = ::fork();
  if (child == 0) {
    if (!join_groups(group->directories())) ::_exit(2);
    ::_exit(::fork() < 0 && errno == EAGAIN ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(group->events().refused_forks, 1U);
}

TEST_F(RealGroup, IsRemovedAtItsEndAndTwoMayHaveOneName) {
  std::vector<std::string> directories;
  {
    const Result<ControlGroup> first = ControlGroup::make(site_, "test", {.processes = 8});
    const Result<ControlGroup> second = ControlGroup::make(site_, "test", {.processes = 8});
    ASSERT_TRUE(first && second);
    directories = first->directories();
    directories.insert(directories.end(), second->directories().begin(), second->directories().end());
    EXPECT_NE(first->directories(), second->directories());
    for (const std::string& directory : directories) EXPECT_TRUE(fs::exists(directory)) << directory;
    EXPECT_GE(*first->memory_bytes_now(), 0U);
  }
  for (const std::string& directory : directories) EXPECT_FALSE(fs::exists(directory)) << directory;
}

}  // namespace
}  // namespace relay::sandbox
