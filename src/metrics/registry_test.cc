#include "metrics/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace relay::metrics {
namespace {

using testing::HasSubstr;

TEST(Registry, CountsCallsByEveryLabelAndTheirTime) {
  Registry registry;
  registry.count_call({.tool = "read",
                       .tier = 0,
                       .outcome = "ok",
                       .mode = "open",
                       .duration = std::chrono::microseconds(300)});
  registry.count_call(
      {.tool = "read", .tier = 0, .outcome = "ok", .mode = "open", .duration = std::chrono::seconds(2)});
  registry.count_call({.tool = "read", .tier = 0, .outcome = "denied", .mode = "open"});
  const std::string page = registry.render();
  EXPECT_THAT(page, HasSubstr(R"(relay_tool_calls_total{mode="open",outcome="ok",tier="0",tool="read"} 2)"));
  EXPECT_THAT(page, HasSubstr(R"(outcome="denied",tier="0",tool="read"} 1)"));
  EXPECT_THAT(page, HasSubstr(R"(relay_tool_call_seconds_bucket{tool="read",le="0.0005"} 2)"));
  EXPECT_THAT(page, HasSubstr(R"(relay_tool_call_seconds_count{tool="read"} 3)"));
}

TEST(Registry, AsksSourcesWhenThePageIsRead) {
  Registry registry;
  double sessions = 1;
  registry.add_gauge("relay_sessions", "Sessions", [&] { return sessions; });
  registry.add_gauge("relay_ready_children", "Ready", [] { return 2.0; }, {{"runtime", "js"}});
  registry.add_gauge("relay_ready_children", "Ready", [] { return 3.0; }, {{"runtime", "py"}});
  sessions = 7;
  const std::string page = registry.render();
  EXPECT_THAT(page, HasSubstr("# TYPE relay_sessions gauge\nrelay_sessions 7\n"));
  EXPECT_THAT(page,
              HasSubstr("relay_ready_children{runtime=\"js\"} 2\nrelay_ready_children{runtime=\"py\"} 3\n"));
}

}  // namespace
}  // namespace relay::metrics
