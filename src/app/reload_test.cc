#include "app/reload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace relay::app {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

config::Config config_of(const std::string& text) {
  config::ConfigSources sources;
  sources.file = "/tmp/relay.config.json";
  sources.text = text;
  config::LoadedConfig loaded = config::load_config(sources);
  EXPECT_THAT(loaded.problems, IsEmpty());
  return loaded.config;
}

TEST(ConfigChange, ServersComeGoAndChange) {
  const config::Config before = config_of(
      R"({"mcps": [{"name": "a", "command": "x"}, {"name": "b", "command": "x"}, {"name": "c", "command": "x"}]})");
  const config::Config after = config_of(
      R"({"mcps": [{"name": "d", "command": "x"}, {"name": "c", "command": "x", "args": ["1"]}, {"name": "a", "command": "x"}]})");
  const ConfigChange change = compare(before, after);
  EXPECT_THAT(change.added, ElementsAre("d"));
  EXPECT_THAT(change.removed, ElementsAre("b"));
  EXPECT_THAT(change.changed, ElementsAre("c"));
  EXPECT_THAT(change.for_restart, IsEmpty());
  EXPECT_TRUE(change.touches_servers());
}

TEST(ConfigChange, WhatNeedsARestartIsNamed) {
  const ConfigChange change = compare(
      config_of("{}"), config_of(R"({"policy": {"mode": "readonly"}, "server": {"port": 1}, "mcps": []})"));
  EXPECT_THAT(change.for_restart, testing::UnorderedElementsAre("policy", "server"));
  EXPECT_FALSE(change.touches_servers());
}

TEST(ConfigChange, SpacingAndDefaultsAreNoChange) {
  EXPECT_TRUE(compare(config_of("{}"), config_of(R"({ "server": {"port": 7800}, /* the same */ })")).empty());
}

}  // namespace
}  // namespace relay::app
