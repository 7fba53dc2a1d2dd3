#include "cli/options.h"

#include <gmock/gmock.h>

namespace relay::cli {
namespace {

TEST(Mount, FlagsAreReadInEveryForm) {
  EXPECT_EQ(parse_mount_flag("/srv/data")->at("name").as_string(), "data");
  EXPECT_EQ(parse_mount_flag("/srv/data/")->at("name").as_string(), "data");
  EXPECT_EQ(parse_mount_flag("/srv/data:d:rw")->at("name").as_string(), "d");
  EXPECT_EQ(parse_mount_flag("/srv/data:d:rw")->at("mode").as_string(), "rw");
  EXPECT_EQ(parse_mount_flag("/srv/data:rw")->at("path").as_string(), "/srv/data");
  EXPECT_FALSE(parse_mount_flag(":rw"));
}

}  // namespace
}  // namespace relay::cli
