#include "executors/prepared_children.h"

#include <gtest/gtest.h>

#include "executors/fake_child.h"

namespace relay::executors {
namespace {

using namespace std::chrono_literals;

class PreparedChildrenTest : public testing::Test {
 protected:
  FakeChild& prepare(const std::string& key) {
    EXPECT_TRUE(prepared.begin(key));
    children_.push_back(std::make_unique<FakeChild>(loop_.get_executor()));
    prepared.keep(key, std::exchange(children_.back()->child, nullptr));
    return *children_.back();
  }

  boost::asio::io_context loop_{1};
  std::vector<std::unique_ptr<FakeChild>> children_;
  FakeClock clock;
  PreparedChildren prepared{clock};
};

TEST_F(PreparedChildrenTest, EachIsTakenOnceByItsKey) {
  prepare("lodash");
  EXPECT_EQ(prepared.take("zod"), nullptr);
  EXPECT_NE(prepared.take("lodash"), nullptr);
  EXPECT_EQ(prepared.take("lodash"), nullptr);
}

TEST_F(PreparedChildrenTest, AFewOfEachAndNotTooManyInAll) {
  prepare("a");
  ASSERT_TRUE(prepared.begin("a"));
  EXPECT_FALSE(prepared.begin("a")) << "one waits, one is being prepared";
  prepared.give_up("a");
  EXPECT_TRUE(prepared.begin("a"));
  prepared.give_up("a");
  FakeChild& oldest = *children_.front();
  for (std::size_t i = 0; i < PreparedChildren::kAll; ++i)
    prepare(std::string(1, static_cast<char>('b' + i)));
  EXPECT_EQ(prepared.size(), PreparedChildren::kAll);
  EXPECT_TRUE(oldest.was_killed());
}

TEST_F(PreparedChildrenTest, OnlyAFewArePreparedAtOnce) {
  for (std::size_t i = 0; i < PreparedChildren::kAtOnce; ++i) ASSERT_TRUE(prepared.begin(std::to_string(i)));
  EXPECT_FALSE(prepared.begin("one more"));
  prepared.give_up("0");
  EXPECT_TRUE(prepared.begin("one more"));
}

TEST_F(PreparedChildrenTest, WhatDoesNotBearItIsNotTriedAgain) {
  ASSERT_TRUE(prepared.begin("chatty"));
  prepared.spoil("chatty");
  EXPECT_FALSE(prepared.begin("chatty"));
}

TEST_F(PreparedChildrenTest, OneThatDiedOrSpokeOutOfTurnServesNobody) {
  FakeChild& loud = prepare("a");
  loud.say("x");
  EXPECT_EQ(prepared.take("a"), nullptr);
  EXPECT_TRUE(loud.was_killed());
  prepare("a").end({.code = 0, .signal = {}, .cpu_ms = 0});
  EXPECT_EQ(prepared.take("a"), nullptr);
}

TEST_F(PreparedChildrenTest, OneThatNobodyComesForEnds) {
  FakeChild& child = prepare("a");
  clock.advance(PreparedChildren::kUnused + 1s);
  prepared.sweep();
  EXPECT_EQ(prepared.size(), 0U);
  EXPECT_TRUE(child.was_killed());
}

}  // namespace
}  // namespace relay::executors
