#include "cli/doctor.h"

#include <gmock/gmock.h>

#include "cli/doctor_network.h"

namespace relay::cli {
namespace {

TEST(Chroot, IsSeenWhereNoMountIsTheRoot) {
  EXPECT_FALSE(
      is_chroot("22 28 0:20 / /proc rw - proc proc rw\n28 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n"));
  EXPECT_TRUE(is_chroot("22 28 0:20 / /proc rw - proc proc rw\n"));
  EXPECT_TRUE(is_chroot(""));
}

TEST(Address, IsShownWithoutUserAndPassword) {
  EXPECT_EQ(without_credentials("http://ann:sesame@proxy.example:3128/"), "http://***@proxy.example:3128/");
  EXPECT_EQ(without_credentials("ann:sesame@proxy.example"), "***@proxy.example");
  EXPECT_EQ(without_credentials("http://proxy.example/a@b"), "http://proxy.example/a@b");
  EXPECT_EQ(without_credentials("localhost,.example"), "localhost,.example");
}

}  // namespace
}  // namespace relay::cli
