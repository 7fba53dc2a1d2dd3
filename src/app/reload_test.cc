#include "app/reload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace relay::app {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

config::Config loaded_from(const std::string& text) {
  config::ConfigSources sources;
  sources.file = "/tmp/relay.config.json";
  sources.text = text;
  config::LoadedConfig loaded = config::load_config(sources);
  EXPECT_THAT(loaded.problems, IsEmpty());
  return loaded.config;
}

TEST(ConfigChange, ServersComeGoAndChange) {
  const config::Config before = loaded_from(
      R"({"mcps": [{"name": "a", "command": "x"}, {"name": "b", "command": "x"}, {"name": "c", "command": "x"}]})");
  const config::Config after = loaded_from(
      R"({"mcps": [{"name": "d", "command": "x"}, {"name": "c", "command": "x", "args": ["1"]}, {"name": "a", "command": "x"}]})");
  const ConfigChange change = compare(before, after);
  EXPECT_THAT(change.added, ElementsAre("d"));
  EXPECT_THAT(change.removed, ElementsAre("b"));
  EXPECT_THAT(change.changed, ElementsAre("c"));
  EXPECT_THAT(change.for_restart, IsEmpty());
  EXPECT_TRUE(change.touches_servers());
}

TEST(ConfigChange, WhatNeedsARestartIsNamed) {
  const ConfigChange change =
      compare(loaded_from("{}"),
              loaded_from(R"({"policy": {"mode": "readonly"}, "server": {"port": 1}, "mcps": []})"));
  EXPECT_THAT(change.for_restart, ElementsAre("server"));
  EXPECT_THAT(change.live, ElementsAre("policy"));
  EXPECT_FALSE(change.touches_servers());
  const ConfigChange built_in =
      compare(loaded_from("{}"), loaded_from(R"({"policy": {"requireServers": true}})"));
  EXPECT_THAT(built_in.for_restart, ElementsAre("policy"));
  EXPECT_THAT(built_in.live, IsEmpty());
}

TEST(ConfigChange, WhatTheNextCallSeesIsNamed) {
  const config::Config before = loaded_from(
      R"({"toolsets": ["files", "admin"], "mounts": [{"name": "a", "path": "/usr", "mode": "rw"}]})");
  const ConfigChange tighter =
      compare(before, loaded_from(R"({"toolsets": ["admin"], "tools": {"read": {"enabled": false}},
                            "policy": {"filesystem": {"denied": ["/tmp/x"]}}})"));
  EXPECT_THAT(tighter.live, UnorderedElementsAre("toolsets", "mounts", "tools", "policy"));
  EXPECT_THAT(tighter.for_restart, IsEmpty());
}

TEST(ConfigChange, AToolsetThatIsAddedNeedsARestart) {
  const ConfigChange swapped =
      compare(loaded_from(R"({"toolsets": ["files"]})"), loaded_from(R"({"toolsets": ["admin"]})"));
  EXPECT_THAT(swapped.live, ElementsAre("toolsets"));
  EXPECT_THAT(swapped.for_restart, ElementsAre("toolsets"));
}

TEST(ConfigChange, OfAMixedChangeTheServersThatOnlyTightenAreTaken) {
  const config::Config before = loaded_from(
      R"({"mcps": [{"name": "a", "command": "x"}, {"name": "b", "command": "x"}, {"name": "c", "command": "x"}]})");
  const config::Config after = loaded_from(
      R"({"policy": {"confirmTier3": false}, "mcps": [{"name": "new", "command": "x"},
          {"name": "a", "command": "y"}, {"name": "c", "command": "x", "deny": ["t"]}]})");
  std::vector<config::Widening> widenings;
  const config::Config part = without_widenings(before, after, widenings);
  EXPECT_EQ(config::describe(widenings),
            "policy.confirmTier3 allows more, mcps.new is new, mcps.a.command changes");
  ASSERT_EQ(part.mcps.size(), 2U);
  EXPECT_EQ(part.mcps[0].command, "x");
  EXPECT_EQ(part.mcps[1].deny, std::vector<std::string>{"t"});
  EXPECT_EQ(part.policy.rules.mode, before.policy.rules.mode);
  EXPECT_EQ(part.complete.at("policy"), before.complete.at("policy"));
  // What was taken is no change any more, and the rest still is.
  without_widenings(part, after, widenings);
  EXPECT_EQ(widenings.size(), 3U);
  EXPECT_TRUE(compare(part, part).empty());
}

TEST(ConfigChange, SpacingAndDefaultsAreNoChange) {
  EXPECT_TRUE(
      compare(loaded_from("{}"), loaded_from(R"({ "server": {"port": 7800}, /* the same */ })")).empty());
}

}  // namespace
}  // namespace relay::app
