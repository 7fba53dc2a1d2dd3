#include "base/id_maker.h"

#include <gtest/gtest.h>

namespace relay {
namespace {

TEST(IdMaker, TheNodeStandsBetweenKindAndDigits) {
  FakeRandom random;
  IdMaker ids(random, "k3f7");
  EXPECT_EQ(ids.make("req_", 3), "req_k3f7-000102");
  EXPECT_EQ(ids.make_secret(3), "k3f7-AwQF");
  EXPECT_EQ(ids.of_node("abc"), "k3f7-abc");
}

TEST(IdMaker, WithoutANodeThereIsNoTraceOfOne) {
  FakeRandom random;
  IdMaker ids(random);
  EXPECT_EQ(ids.make("req_", 2), "req_0001");
  EXPECT_EQ(find_node("req_0001"), "");
}

TEST(IdMaker, ANodeIsFoundInEveryKindOfId) {
  FakeRandom random;
  IdMaker ids(random, "k3f7");
  EXPECT_EQ(find_node(ids.make("task_")), "k3f7");
  EXPECT_EQ(find_node(ids.make("")), "k3f7");
  EXPECT_EQ(find_node(ids.make_secret(24)), "k3f7");
  EXPECT_EQ(find_node("req_"), "");
  EXPECT_EQ(find_node("_-"), "");
  EXPECT_EQ(find_node("req_K3F7-00"), "");
}

TEST(IdMaker, NodesAreAFewCharactersOfBase32) {
  FakeRandom random;
  EXPECT_EQ(make_node(random), "abcd");
  EXPECT_TRUE(is_node("k3f7"));
  EXPECT_TRUE(is_node("a"));
  EXPECT_FALSE(is_node(""));
  EXPECT_FALSE(is_node("k3f7k3f7k"));
  EXPECT_FALSE(is_node("a-b"));
  EXPECT_FALSE(is_node("a1"));
}

}  // namespace
}  // namespace relay
