#include "config/node_files.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "base/id_maker.h"

namespace relay::config {
namespace {

class NodeFiles : public testing::Test {
 protected:
  NodeFiles() {
    char name[] = "/tmp/relay-node-XXXXXX";
    folder_ = ::mkdtemp(name);
    config_.state = folder_;
    config_.server.state_key_path = folder_ / "state.key";
  }
  ~NodeFiles() override { std::filesystem::remove_all(folder_); }
  void write(const char* name, std::string_view text) { std::ofstream(folder_ / name) << text; }

  std::filesystem::path folder_;
  Config config_;
  FakeRandom random_;
};

TEST_F(NodeFiles, ANameIsMadeOnceAndKept) {
  const std::string node = open_node(config_, random_).value();
  EXPECT_TRUE(is_node(node)) << node;
  EXPECT_EQ(open_node(config_, random_).value(), node);
}

TEST_F(NodeFiles, TheConfigurationSaysAnotherName) {
  config_.server.node = "left";
  EXPECT_EQ(open_node(config_, random_).value(), "left");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "node"));
}

TEST_F(NodeFiles, AKeyIsMadeOnceForTheOwnerAlone) {
  const std::string key = open_state_key(config_, random_).value();
  EXPECT_EQ(key.size(), 43U);
  EXPECT_EQ(open_state_key(config_, random_).value(), key);
  EXPECT_EQ(std::filesystem::status(folder_ / "state.key").permissions(), std::filesystem::perms(0600));
}

TEST_F(NodeFiles, TheDirectoryOfAKeyIsMade) {
  config_.server.state_key_path = folder_ / "other" / "state.key";
  EXPECT_TRUE(open_state_key(config_, random_));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "other" / "state.key"));
}

TEST_F(NodeFiles, WhatIsNoNameAndNoKeyIsRefused) {
  write("node", "No Name\n");
  EXPECT_EQ(open_node(config_, random_).error().kind, ErrorKind::invalid);
  write("state.key", "short\n");
  EXPECT_EQ(open_state_key(config_, random_).error().kind, ErrorKind::invalid);
}

}  // namespace
}  // namespace relay::config
