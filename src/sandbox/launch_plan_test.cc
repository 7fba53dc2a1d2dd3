#include "sandbox/launch_plan.h"

#include <gtest/gtest.h>

#include "sandbox/system_calls.h"

namespace relay::sandbox {
namespace {

TEST(LaunchPlan, FullHasEveryWallInTheOrderOfBuilding) {
  EXPECT_EQ(
      json::write(to_json(make_zygote_plan(WallLevel::full))),
      R"({"level":"full","walls":["user_namespace","pid_namespace","mount_namespace","network_namespace","ipc_namespace",)"
      R"("uts_namespace","empty_root","unprivileged_user","no_capabilities","no_new_privileges","undumpable","own_socket_only",)"
      R"("resource_limits","system_call_filter"],"limits":{"memoryBytes":2147483648,"addressBytes":6442450944,"descriptors":1,"stackBytes":8388608,)"
      R"("cpuSeconds":86400},"filter":"engine"})");
}

TEST(LaunchPlan, ReducedLosesTheNamespacesAndNothingElse) {
  const LaunchPlan full = make_zygote_plan(WallLevel::full);
  const LaunchPlan reduced = make_zygote_plan(WallLevel::reduced);
  for (const Wall wall : reduced.walls) EXPECT_TRUE(has(full, wall)) << name_of(wall);
  for (const Wall wall : {Wall::no_capabilities, Wall::no_new_privileges, Wall::own_socket_only,
                          Wall::resource_limits, Wall::system_call_filter})
    EXPECT_TRUE(has(reduced, wall)) << name_of(wall);
  EXPECT_FALSE(has(reduced, Wall::user_namespace));
}

TEST(LaunchPlan, FingerprintsTellPlansApart) {
  LaunchPlan changed = make_zygote_plan(WallLevel::full);
  EXPECT_EQ(fingerprint(changed), fingerprint(make_zygote_plan(WallLevel::full)));
  changed.limits.descriptors = 2;
  EXPECT_NE(fingerprint(changed), fingerprint(make_zygote_plan(WallLevel::full)));
}

TEST(LaunchPlan, LevelsAreFoundByTheirNames) {
  EXPECT_EQ(find_wall_level("full"), WallLevel::full);
  EXPECT_EQ(find_wall_level("reduced"), WallLevel::reduced);
  EXPECT_EQ(find_wall_level("none"), std::nullopt);
}

TEST(SystemCalls, TheFilterOfThePlanCompiles) {
  const auto filter = SystemCallFilter::compile(make_zygote_plan(WallLevel::full).filter);
  ASSERT_TRUE(filter) << filter.error().message;
  EXPECT_GT(filter->instructions(), 20U);
  EXPECT_FALSE(SystemCallFilter::compile("no such list"));
}

}  // namespace
}  // namespace relay::sandbox
