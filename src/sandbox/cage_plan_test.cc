#include "sandbox/cage_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/launch_plan.h"
#include "sandbox/system_calls.h"

namespace relay::sandbox {
namespace {

using testing::HasSubstr;

TEST(CagePlan, IsPrintedAndReadBack) {
  const CagePlan plan{.program = "node",
                      .args = {"a b", "\"c\""},
                      .directory = "/srv",
                      .read = {"/srv"},
                      .write = {"/srv/data"},
                      .home = "/home/u",
                      .hosts = true};
  EXPECT_EQ(parse_cage_plan(json::write(to_json(plan))), plan);
}

TEST(CagePlan, PathsThatWouldBeNoCageAreRefused) {
  for (const char* path :
       {"", "relative", "/", "//", "/a/../b", "/a//b", "/proc", "/proc/1", "/dev/sda", "/sys/fs", "/a/./b"}) {
    EXPECT_FALSE(check({.program = "x", .read = {path}})) << path;
    EXPECT_FALSE(check({.program = "x", .write = {path}})) << path;
  }
  for (const char* path : {"/a", "/processes", "/device/x", "/a/b.c/d e"})
    EXPECT_TRUE(check({.program = "x", .read = {path}})) << path;
}

TEST(CagePlan, WhatIsNoPlanIsRefused) {
  for (const char* text : {"", "[]", "{}", R"({"program":""})", R"({"program":"x","args":[1]})",
                           R"({"program":"x","read":["rel"]})"})
    EXPECT_FALSE(parse_cage_plan(text)) << text;
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
