#include "vfs/mount_rules.h"

#include <gtest/gtest.h>

namespace relay::vfs {
namespace {

TEST(MountRules, DenyBeatsAllow) {
  const auto rules = MountRules::parse({"src/**", "*.md"}, {"src/secret", "*.pem", ".env"});
  ASSERT_TRUE(rules);
  EXPECT_TRUE(rules->allows("src/a.cc"));
  EXPECT_TRUE(rules->allows("docs/x.md"));
  EXPECT_FALSE(rules->allows("docs/x.txt"));
  EXPECT_FALSE(rules->allows("src/secret"));
  EXPECT_FALSE(rules->allows("src/secret/deep/a.cc"));
  EXPECT_FALSE(rules->allows("src/keys/id.pem"));
  EXPECT_FALSE(rules->allows("src/.env"));
  EXPECT_TRUE(rules->allows("src/secrets"));
  EXPECT_TRUE(rules->allows_passing(""));
  EXPECT_TRUE(rules->allows_passing("src"));
  EXPECT_FALSE(rules->allows_passing("src/secret"));
}

TEST(MountRules, ASlashAnchorsAtTheRoot) {
  const auto rules = MountRules::parse({}, {"/build", "a/b"});
  ASSERT_TRUE(rules);
  EXPECT_FALSE(rules->allows("build/x"));
  EXPECT_TRUE(rules->allows("src/build/x"));
  EXPECT_FALSE(rules->allows("a/b"));
  EXPECT_TRUE(rules->allows("x/a/b"));
  EXPECT_FALSE(MountRules::parse({}, {"[x"}));
}

}  // namespace
}  // namespace relay::vfs
