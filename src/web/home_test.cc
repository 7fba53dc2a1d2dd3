#include "web/home.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"

namespace relay::web {
namespace {

TEST(Home, FillsEveryPlaceAndEscapesIt) {
  const HomeFacts facts{.base_url = "http://127.0.0.1:1", .version = "<b>", .toolsets = {"code", "files"}};
  EXPECT_EQ(render_home("a {{mcp_url}} {{version}} {{toolsets}} {{nothing}} {{", facts),
            "a http://127.0.0.1:1/mcp &lt;b&gt; code, files  {{");
}

TEST(Home, TheHeadlessStatusHasTheSeedsMembers) {
  const auto status = json::parse_object(render_status({.base_url = "http://127.0.0.1:7800"}));
  ASSERT_TRUE(status);
  EXPECT_EQ(json::find_string(*status, "status"), "running");
  EXPECT_EQ(json::find_string(*status, "mode"), "headless");
  EXPECT_EQ(status->at("endpoints").at("mcp").as_string(), "POST http://127.0.0.1:7800/mcp");
}

}  // namespace
}  // namespace relay::web
