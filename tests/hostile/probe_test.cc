// The kernel's walls alone: native code inside them, with no WebAssembly around it. Each row says what is
// tried and how it must end, with the system call filter and, in the second column, without it: the walls
// behind it have to hold too.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "attempts.h"
#include "local_runs.h"

namespace relay::hostile {
namespace {

constexpr const char* kKilled = "killed";  // by the filter: SIGSYS, reported as PolicyDenied

struct Row {
  const char* attempt;
  const char* with_filter;
  const char* without_filter;
};

// "ok" for the two signals: process 1 of a namespace ignores what its own children send, SIGKILL included.
constexpr Row kRows[] = {
    {"open_passwd", kKilled, "refused EMFILE"},
    {"open_proc_self", kKilled, "refused EMFILE"},
    {"open_proc_1", kKilled, "refused EMFILE"},
    {"open_root_directory", kKilled, "refused EMFILE"},
    {"create_in_root", kKilled, "refused EMFILE"},
    {"open_device", kKilled, "refused EMFILE"},
    {"read_link", kKilled, "refused ENOENT"},
    {"connect_loopback", kKilled, "refused EMFILE"},
    {"connect_internet", kKilled, "refused EMFILE"},
    {"bind_abstract_socket", kKilled, "refused EMFILE"},
    {"raw_socket", kKilled, "refused EPERM"},
    {"socket_pair", kKilled, "refused EMFILE"},
    {"fork", kKilled, "refused EAGAIN"},
    {"clone_thread", kKilled, "refused EAGAIN"},
    {"execute", kKilled, "refused ENOENT"},
    {"execute_from_memory", kKilled, "refused EMFILE"},
    {"kill_zygote", kKilled, "ok 0"},
    {"queue_signal", kKilled, "ok 0"},
    {"open_pidfd", kKilled, "refused EMFILE"},
    {"ptrace_zygote", kKilled, "refused EPERM"},
    {"write_into_zygote", kKilled, "refused EPERM"},
    {"map_writable_code", kKilled, nullptr},
    {"make_data_executable", kKilled, nullptr},
    {"share_memory", kKilled, nullptr},
    {"new_user_namespace", kKilled, nullptr},
    {"new_mount_namespace", kKilled, "refused EPERM"},
    {"enter_namespace", kKilled, "refused EINVAL"},
    {"mount", kKilled, "refused EPERM"},
    {"unmount", kKilled, "refused EPERM"},
    {"change_root", kKilled, "refused EPERM"},
    {"become_root", kKilled, "refused"},
    {"bpf", kKilled, nullptr},
    {"keyctl", kKilled, nullptr},
    {"perf_event", kKilled, nullptr},
    {"userfaultfd", kKilled, nullptr},
    {"io_uring", kKilled, nullptr},
    {"loads_module", kKilled, nullptr},
    {"set_clock", kKilled, "refused EPERM"},
    {"reboot", kKilled, "refused EPERM"},
    {"set_host_name", kKilled, "refused EPERM"},
    {"become_dumpable", kKilled, nullptr},
    {"exhaust_memory", "refused ENOMEM within its limit", "refused ENOMEM within its limit"},
    {"exhaust_shared_memory", kKilled, "ok"},  // no rlimit sees it; a control group does, below
    {"exhaust_page_tables", "refused ENOMEM within its limit", "refused ENOMEM within its limit"},
    {"exhaust_descriptors", kKilled, "refused EMFILE at once"},
    {"raise_limits", "refused EPERM", "refused EPERM"},
    {"limit_zygote", kKilled, nullptr},
    {"send_descriptor", "refused EBADF", "refused EBADF"},
    {"count_descriptors", "ok 1", "ok 1"},
    {"x32_system_call", kKilled, nullptr},
};

executors::LocalConfig config(const char* walls) {
  executors::LocalConfig config;
  config.zygote_program = RELAY_PROBE;
  config.runtime_dir = walls;
  config.ready_children = 1;
  return config;
}

std::string verdict_of(LocalRuns& runs, const std::string& attempt) {
  const Result<executors::RunOutcome> outcome = runs.run(runs.request(executors::Language::js, attempt));
  if (!outcome) return describe(outcome.error());
  if (outcome->exit_code == executors::kExitPolicy && outcome->error &&
      outcome->error->type == "PolicyDenied")
    return kKilled;
  if (outcome->error) return outcome->error->type + ": " + outcome->error->message;
  const auto value = json::parse(outcome->value_json.value_or("null"));
  return value && value->is_string() ? std::string(json::view(value->get_string())) : "no value";
}

class Probe : public testing::TestWithParam<Row> {};

TEST_P(Probe, IsStoppedByTheWalls) {
  LocalRuns runs(config("with-filter"));
  EXPECT_EQ(verdict_of(runs, GetParam().attempt), GetParam().with_filter);
}

TEST_P(Probe, IsStoppedWithoutTheFilterToo) {
  if (!GetParam().without_filter) GTEST_SKIP() << "the filter is the wall for this one";
  LocalRuns runs(config("without-filter"));
  EXPECT_EQ(verdict_of(runs, GetParam().attempt), GetParam().without_filter);
  EXPECT_EQ(verdict_of(runs, "count_descriptors"), "ok 1") << "the zygote serves the next run";
}

INSTANTIATE_TEST_SUITE_P(Attempts, Probe, testing::ValuesIn(kRows),
                         [](const auto& row) { return std::string(row.param.attempt); });

TEST(ProbeTable, NamesEveryAttempt) {
  std::set<std::string> named{"spin", "kill_everybody"};
  for (const Row& row : kRows) named.insert(row.attempt);
  for (const auto& [name, attempt] : attempts()) EXPECT_TRUE(named.contains(name)) << name;
}

// The group around all children of one zygote, where the machine lets us make one.
class ProbeGroup : public testing::Test {
 protected:
  void SetUp() override {
    site_ = sandbox::prepare_group_site(sandbox::find_group_site("auto"));
    if (site_.version == sandbox::GroupVersion::none)
      GTEST_SKIP() << "no control group is delegated here: " << site_.reason;
  }
  [[nodiscard]] executors::LocalConfig grouped(std::size_t memory_mb,
                                               const char* walls = "with-filter") const {
    executors::LocalConfig with = config(walls);
    with.groups = site_;
    with.group_memory_bytes = memory_mb * limits::kMiB;
    return with;
  }
  sandbox::GroupSite site_;
};

TEST_F(ProbeGroup, StandsAroundTheZygoteAndItsChildren) {
  LocalRuns runs(grouped(512));
  EXPECT_EQ(verdict_of(runs, "count_descriptors"), "ok 1");
  const executors::ZygoteStatus zygote = runs.executor->status().runtimes.front().zygote;
  EXPECT_EQ(zygote.group, name_of(site_.version));
  EXPECT_EQ(zygote.walls.front(), "control_group");
  EXPECT_GT(zygote.group_memory_bytes, 512 * limits::kMiB);
  std::ifstream procs(zygote.group_directories.front() + "/cgroup.procs");
  EXPECT_GE(std::distance(std::istream_iterator<int>(procs), {}), 3)
      << "the outer process, the zygote, a waiting child";
}

TEST_F(ProbeGroup, EndsARunThatItsOwnLimitDoesNotSee) {
  LocalRuns runs(grouped(128, "without-filter"));
  EXPECT_THAT(verdict_of(runs, "exhaust_shared_memory"), testing::StartsWith("MemoryLimitExceeded"));
  EXPECT_EQ(verdict_of(runs, "count_descriptors"), "ok 1") << "the zygote serves the next run";
  EXPECT_EQ(runs.executor->status().runtimes.front().zygote.starts, 1U) << "and is still the first one";
}

TEST_F(ProbeGroup, LimitsWhatRunsUseTogether) {
  LocalRuns runs(grouped(32));
  EXPECT_THAT(verdict_of(runs, "exhaust_memory"), testing::StartsWith("MemoryLimitExceeded"))
      << "its own limit is twice that";
  EXPECT_EQ(verdict_of(runs, "count_descriptors"), "ok 1");
  EXPECT_EQ(runs.executor->status().runtimes.front().zygote.starts, 1U);
}

TEST_F(ProbeGroup, IsGoneWithTheExecutor) {
  std::vector<std::string> directories;
  {
    LocalRuns runs(grouped(512));
    EXPECT_EQ(verdict_of(runs, "count_descriptors"), "ok 1");
    directories = runs.executor->status().runtimes.front().zygote.group_directories;
    ASSERT_FALSE(directories.empty());
  }
  for (const std::string& directory : directories)
    EXPECT_FALSE(std::filesystem::exists(directory)) << directory;
}

TEST(ProbeGroupMissing, APlaceThatTheConfigurationNamesHasToBeThere) {
  executors::LocalConfig named = config("with-filter");
  named.groups = sandbox::find_group_site("/nowhere");
  LocalRuns runs(named);
  EXPECT_THAT(verdict_of(runs, "count_descriptors"),
              testing::HasSubstr("wall control_group: /nowhere is not a control group"));
}

TEST(ProbeTime, SpinningNativeCodeIsEndedAtTheDeadline) {
  LocalRuns runs(config("with-filter"));
  executors::RunRequest request = runs.request(executors::Language::js, "spin");
  request.limits.timeout = std::chrono::milliseconds(300);
  const Result<executors::RunOutcome> outcome = runs.run(std::move(request));
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->exit_code, executors::kExitTimeout);
  EXPECT_EQ(outcome->error->type, "Timeout");
}

TEST(ProbeWire, BrokenFramesEndTheRunAndNothingElse) {
  using sandbox::FrameKind;
  const std::string hostile[] = {
      std::string("\xff\xff\xff\xff", 4),                                    // 4 GiB announced
      std::string("\0\0\0\0", 4),                                            // too short to be one
      std::string("\5\0\0\0\x63\0\0\0\0", 9),                                // no such kind
      std::string("\5\0\0\0\x11\xff\0\0\0", 9),                              // header longer than the frame
      sandbox::make_frame(FrameKind::ready, "{}"),                           // not now
      sandbox::make_frame(FrameKind::start, "{}"),                           // relay's word
      sandbox::make_frame(FrameKind::output, "{\"stream\":\"disk\"}", "x"),  // no such stream
      sandbox::make_frame(FrameKind::output, "not json", "x"),
      sandbox::make_frame(FrameKind::output, "{\"stream\":\"stdout\",\"stream\":"),
      sandbox::make_frame(FrameKind::done, "{}"),  // without an exit code
      sandbox::make_frame(FrameKind::done, "[1]"),
      sandbox::make_frame(FrameKind::done, std::string(100'000, '[')),  // deep
      sandbox::make_frame(FrameKind::call, "{\"op\":\"fs.read\"}"),     // without a number
      sandbox::make_frame(FrameKind::call, "{\"id\":\"1\",\"op\":\"fs.read\"}"),
      sandbox::make_frame(FrameKind::cancel, "\xff\xfe"),
  };
  LocalRuns runs(config("with-filter"));
  for (const std::string& bytes : hostile) {
    const Result<executors::RunOutcome> outcome =
        runs.run(runs.request(executors::Language::js, "raw " + bytes));
    ASSERT_TRUE(outcome) << outcome.error().message;
    EXPECT_EQ(outcome->exit_code, executors::kExitPolicy);
    ASSERT_TRUE(outcome->error);
    EXPECT_EQ(outcome->error->type, "SandboxViolation") << outcome->error->message;
  }
  EXPECT_EQ(verdict_of(runs, "count_descriptors"), "ok 1");
  EXPECT_EQ(runs.executor->status().leaked_children, 0U);
}

TEST(ProbeIds, OneCallNumberTwiceAtTheSameTimeEndsTheRun) {
  LocalRuns runs(config("with-filter"));
  class Slow final : public executors::HostCalls {
    io::Task<executors::HostReply> call(executors::HostCall, executors::HostStream&) override {
      RELAY_CO_CHECK(co_await io::sleep_for(std::chrono::minutes(10)));
      co_return executors::HostReply{};
    }
  };
  const std::string call = sandbox::make_frame(sandbox::FrameKind::call, "{\"id\":7,\"op\":\"x\"}");
  const auto outcome =
      runs.run(runs.request(executors::Language::js, "raw " + call + call), std::make_shared<Slow>());
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->error->type, "SandboxViolation");
}

}  // namespace
}  // namespace relay::hostile
