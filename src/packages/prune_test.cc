// The caches of dependencies throw away what is old, and keep what is used.
#include <gtest/gtest.h>

#include "base/disk.h"
#include "capsule/shelf.h"
#include "io/test_folder.h"
#include "packages/layer_cache.h"
#include "packages/loop_fixture.h"
#include "packages/packages.h"

namespace relay::packages {
namespace {

namespace fs = std::filesystem;

class Prune : public LoopFixture {
 protected:
  void place(const std::string& name, std::chrono::hours age) {
    const fs::path directory = root / name;
    ASSERT_TRUE(make_directory(directory));
    ASSERT_TRUE(write_new_file(directory / ".stamp", "x"));
    capsule::set_used(directory / ".stamp", clock.wall() - age);
  }
  bool there(const std::string& name) const { return fs::exists(root / name); }

  io::TestFolder scratch;
  SystemClock clock;
  fs::path root = scratch.path() / "shelf";
};

TEST_F(Prune, OldEntriesGoAndUsedOnesStay) {
  place("old", std::chrono::hours(24 * 8));
  place("used", std::chrono::hours(24 * 6));
  ASSERT_TRUE(capsule::prune_shelf(root, ".stamp", clock.wall()));
  EXPECT_FALSE(there("old"));
  EXPECT_TRUE(there("used"));
}

TEST_F(Prune, AShelfThatIsNotThereYetIsMade) {
  EXPECT_TRUE(capsule::prune_shelf(root / "deeper", ".stamp", clock.wall()));
  EXPECT_TRUE(there("deeper"));
}

TEST_F(Prune, LeftoversOfCrashesGoAfterAnHour) {
  ASSERT_TRUE(make_directory(root / ".tmp-crashed"));
  ASSERT_TRUE(make_directory(root / ".tmp-at-work"));
  capsule::set_used(root / ".tmp-crashed", clock.wall() - std::chrono::hours(2));
  ASSERT_TRUE(capsule::prune_shelf(root, ".stamp", clock.wall()));
  EXPECT_FALSE(there(".tmp-crashed"));
  EXPECT_TRUE(there(".tmp-at-work"));
}

TEST_F(Prune, PackagesTidyLayersInstallationsAndWork) {
  PackageOptions options;
  options.npm.cache = options.py.cache = scratch.path();
  auto packages = Packages::make(options, pool, clock);
  ASSERT_TRUE(packages);
  for (const char* shelf : {"layers", "npm"}) {
    root = scratch.path() / shelf;
    const char* stamp = shelf == std::string_view("npm") ? ".relay-complete" : "layer.json";
    ASSERT_TRUE(make_directory(root / "old"));
    ASSERT_TRUE(write_new_file(root / "old" / stamp, "{}"));
    capsule::set_used(root / "old" / stamp, clock.wall() - std::chrono::hours(24 * 30));
    ASSERT_TRUE(make_directory(root / "new"));
    ASSERT_TRUE(write_new_file(root / "new" / stamp, "{}"));
  }
  ASSERT_TRUE(make_directory(scratch.path() / "pip" / ".tmp-x"));
  capsule::set_used(scratch.path() / "pip" / ".tmp-x", clock.wall() - std::chrono::hours(5));
  ASSERT_TRUE((*packages)->prune());
  for (const char* shelf : {"layers", "npm"}) {
    EXPECT_FALSE(fs::exists(scratch.path() / shelf / "old")) << shelf;
    EXPECT_TRUE(fs::exists(scratch.path() / shelf / "new")) << shelf;
  }
  EXPECT_FALSE(fs::exists(scratch.path() / "pip" / ".tmp-x"));
}

}  // namespace
}  // namespace relay::packages
