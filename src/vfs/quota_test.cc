#include "vfs/quota.h"

#include <gtest/gtest.h>

namespace relay::vfs {
namespace {

struct Disk {
  std::optional<Usage> content = Usage{};
  int counts = 0;

  Quota::Measure measure() {
    return [this] {
      ++counts;
      return content;
    };
  }
};

TEST(Quota, CountsTheDiskAtTheFirstChangeAndNotBefore) {
  Disk disk{Usage{600, 3}};
  Quota quota({1000, 10}, disk.measure());
  EXPECT_EQ(disk.counts, 0);
  EXPECT_TRUE(Quota::Change(&quota).charge(400, 1));
  EXPECT_EQ(disk.counts, 1);
  EXPECT_EQ(quota.used().bytes, 1000U);
  EXPECT_EQ(quota.used().files, 4U);
}

TEST(Quota, BothLimitsBindExactly) {
  Disk disk;
  Quota quota({1000, 2}, disk.measure());
  Quota::Change change(&quota);
  EXPECT_FALSE(change.charge(1001, 0));
  EXPECT_FALSE(change.charge(0, 3));
  EXPECT_TRUE(change.charge(1000, 2));
  disk.content = Usage{1000, 2};
  EXPECT_FALSE(change.charge(1, 0));
  EXPECT_FALSE(change.charge(0, 1));
  EXPECT_TRUE(change.charge(0, 0));
}

TEST(Quota, ARefusalCountsAgainAtTheFirstAndEvery32ndTime) {
  Disk disk{Usage{1000, 1}};
  Quota quota({1000, 10}, disk.measure());
  Quota::Change change(&quota);
  for (int i = 0; i < 33; ++i) EXPECT_FALSE(change.charge(1, 0));
  EXPECT_EQ(disk.counts, 3);  // the first change, the first refusal, the 33rd
  disk.content = Usage{};
  for (int i = 0; i < 31; ++i) EXPECT_FALSE(change.charge(1, 0));
  EXPECT_TRUE(change.charge(1, 0));
  disk.content = Usage{1000, 1};
  EXPECT_FALSE(change.charge(1000, 0));
  EXPECT_EQ(disk.counts, 5);  // a success starts the row of refusals again
}

// A recount that sees less than there is would give the room away a second time.
TEST(Quota, ACountThatFailsNeverMakesRoom) {
  Disk disk;
  Quota quota({1000, 10}, disk.measure());
  Quota::Change change(&quota);
  EXPECT_TRUE(change.charge(1000, 1));
  disk.content.reset();
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(change.charge(1, 0));
  change.credit(10, 0);
  EXPECT_TRUE(change.charge(10, 0));
}

TEST(Quota, AWorkspaceThatCannotBeCountedIsFullUntilItCan) {
  Disk disk{std::nullopt};
  Quota quota({1000, 10}, disk.measure());
  EXPECT_FALSE(Quota::Change(&quota).charge(1, 0));
  disk.content = Usage{10, 1};
  bool taken = false;
  for (int i = 0; i < 32 && !taken; ++i) taken = Quota::Change(&quota).charge(1, 0);
  EXPECT_TRUE(taken);
  EXPECT_EQ(quota.used().bytes, 11U);
}

TEST(Quota, ACountDoesNotForgetRoomThatIsReservedAndNotYetUsed) {
  Disk disk;
  Quota quota({1000, 10}, disk.measure());
  EXPECT_TRUE(Quota::Change(&quota).reserve(900, 1));
  EXPECT_FALSE(Quota::Change(&quota).charge(200, 1));  // counts: nothing is on the disk yet
  EXPECT_EQ(quota.used().bytes, 900U);
  EXPECT_EQ(quota.used().files, 1U);
  Quota::Change(&quota).settle(900, 1);
  EXPECT_EQ(quota.used().bytes, 900U);
  disk.content = Usage{900, 1};
  for (int i = 0; i < 40; ++i) EXPECT_FALSE(Quota::Change(&quota).charge(200, 1));
  EXPECT_EQ(quota.used().bytes, 900U);
}

TEST(Quota, AReservationThatDoesNotFitReservesNothing) {
  Disk disk;
  Quota quota({1000, 10}, disk.measure());
  EXPECT_FALSE(Quota::Change(&quota).reserve(1001, 0));
  EXPECT_TRUE(Quota::Change(&quota).charge(1000, 0));
}

TEST(Quota, CreditsStopAtZero) {
  Disk disk{Usage{5, 1}};
  Quota quota({1000, 10}, disk.measure());
  Quota::Change(&quota).credit(100, 7);
  EXPECT_EQ(quota.used().bytes, 0U);
  EXPECT_EQ(quota.used().files, 0U);
}

TEST(Quota, NoQuotaAllowsEverything) {
  Quota::Change change(nullptr);
  EXPECT_TRUE(change.charge(UINT64_MAX, UINT64_MAX));
  EXPECT_TRUE(change.reserve(UINT64_MAX, 1));
  change.credit(1, 1);
  change.settle(1, 1);
}

}  // namespace
}  // namespace relay::vfs
