#include "sandbox/cage_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/launch_plan.h"
#include "sandbox/system_calls.h"

namespace relay::sandbox {
namespace {

using testing::HasSubstr;

TEST(CagePlan, IsPrintedAndReadBack) {
  const CagePlan plan{
      .program = "node",
      .args = {"a b", "\"c\""},
      .directory = "/srv",
      .read = {"/srv"},
      .write = {"/srv/data"},
      .home = "/home/u",
      .hosts = true,
      .hidden = {"/srv/relay.config.json"},
      .user = CageUser::own,
      .groups = {"/sys/fs/cgroup/memory/relay.1.x"},
      .limits =
          {.data_bytes = 1, .processes = 2, .cpu_seconds = 3, .open_files = 4, .file_bytes = 5, .nice = 6},
      .scratch_bytes = 7,
      .scratch_files = 8};
  EXPECT_EQ(parse_cage_plan(json::write(to_json(plan))), plan);
}

TEST(CagePlan, PathsThatWouldBeNoCageAreRefused) {
  for (const char* path :
       {"", "relative", "/", "//", "/a/../b", "/a//b", "/proc", "/proc/1", "/dev/sda", "/sys/fs", "/a/./b"}) {
    EXPECT_FALSE(check({.program = "x", .read = {path}})) << path;
    EXPECT_FALSE(check({.program = "x", .write = {path}})) << path;
    EXPECT_FALSE(check({.program = "x", .hidden = {path}})) << path;
  }
  for (const char* path : {"/a", "/processes", "/device/x", "/a/b.c/d e"})
    EXPECT_TRUE(check({.program = "x", .read = {path}})) << path;
}

// What a plan does not say is not granted.
TEST(CagePlan, APlanThatSaysNothingGrantsNothing) {
  const auto plan = parse_cage_plan(R"({"program":"x"})");
  ASSERT_TRUE(plan);
  EXPECT_FALSE(plan->hosts);
  EXPECT_EQ(plan->user, CageUser::unprivileged);
  EXPECT_TRUE(plan->read.empty() && plan->write.empty() && plan->home.empty());
}

TEST(CagePlan, WhatIsNoPlanIsRefused) {
  for (const char* text :
       {"", "[]", "{}", R"({"program":""})", R"({"program":"x","args":[1]})",
        R"({"program":"x","read":["rel"]})", R"({"program":"x","user":"root"})",
        R"({"program":"x","limits":{"processes":-1}})", R"({"program":"x","scratchBytes":"1"})",
        R"({"program":"x","limits":{"processes":"2"}})", R"({"program":"x","groups":[1]})"})
    EXPECT_FALSE(parse_cage_plan(text)) << text;
}

TEST(CageLimits, WithoutAGroupEachProcessIsHeldByItself) {
  const CageLimits limits{.memory_bytes = 100, .processes = 10, .cpu_time = std::chrono::seconds(7)};
  const CageStanding alone = make_standing(nullptr, "none here");
  EXPECT_EQ(alone.memory, HeldBy::processes);
  EXPECT_EQ(alone.processes, HeldBy::user);
  EXPECT_EQ(alone.cpu, HeldBy::priority);
  const ProcessLimits each = make_process_limits(limits, alone);
  EXPECT_EQ(each.data_bytes, 100U);
  EXPECT_EQ(each.processes, 10U + limits::kCageOwnProcesses);
  EXPECT_EQ(each.cpu_seconds, 7U);
  EXPECT_EQ(each.nice, limits::kCageNice);
  EXPECT_EQ(
      json::write(to_json(alone)),
      R"({"cgroup":"none","memory":"process","processes":"user","cpu":"priority","reason":"none here"})");
  EXPECT_THAT(describe(limits, alone), HasSubstr("weaker level: rlimits alone, no control group: none here"));
}

TEST(CageLimits, WhatAGroupHoldsIsNotHeldTwiceButForProcesses) {
  CageStanding grouped;
  grouped.version = GroupVersion::v2;
  grouped.memory = grouped.processes = grouped.cpu = HeldBy::group;
  const ProcessLimits each = make_process_limits({}, grouped);
  EXPECT_EQ(each.data_bytes, 0U) << "a program may map more than it uses";
  EXPECT_EQ(each.nice, 0U);
  EXPECT_GT(each.processes, 0U);
  EXPECT_THAT(describe({}, grouped),
              HasSubstr("memory 2048 MB in all, 256 processes, 2.00 processors (control group v2)"));
}

TEST(CageWalls, HaveNoWeakerLevelAndTheirFilterCompiles) {
  const LaunchPlan walls = make_cage_walls();
  for (const Wall wall :
       {Wall::user_namespace, Wall::pid_namespace, Wall::mount_namespace, Wall::network_namespace,
        Wall::ipc_namespace, Wall::uts_namespace, Wall::private_root, Wall::no_capabilities,
        Wall::no_new_privileges, Wall::system_call_filter})
    EXPECT_TRUE(has(walls, wall)) << name_of(wall);
  const auto filter = SystemCallFilter::compile(walls.filter);
  ASSERT_TRUE(filter) << filter.error().message;
  EXPECT_GT(filter->instructions(), 50U);
}

}  // namespace
}  // namespace relay::sandbox
