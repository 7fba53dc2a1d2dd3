// An attacker swaps a directory for a link that leads out, as fast as it can, while others read, list, stat
// and write through it. Nobody ever sees or changes what is outside. RELAY_SOAK_SECONDS makes it run longer.
#include <fcntl.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <thread>

#include <gtest/gtest.h>

#include "vfs/mount.h"
#include "vfs/temp_dir.h"

namespace relay::vfs {
namespace {

std::chrono::seconds race_time() {
  const char* soak = ::getenv("RELAY_SOAK_SECONDS");
  return std::chrono::seconds(soak != nullptr ? ::atoi(soak) : 10);
}

class SymlinkRace : public testing::TestWithParam<Symlinks> {
 protected:
  void SetUp() override {
    outside_.write("file", "SECRET!");
    inside_.write("dir/file", "inside");
    inside_.link(outside_.path(), "link");
  }

  // Exchanges dir and link atomically: at every moment the name "dir" is one or the other.
  void swap_until(const std::atomic<bool>& stop) {
    const std::string dir = inside_.path("dir"), link = inside_.path("link");
    while (!stop) {
      ::renameat2(AT_FDCWD, dir.c_str(), AT_FDCWD, link.c_str(), RENAME_EXCHANGE);
      ++swaps_;
    }
  }

  void use(Mount& mount) {
    const auto chunk = mount.read("dir/file", 0, 100);
    if (chunk) (chunk->bytes == "inside" || chunk->bytes == "mine" ? reads_ : escapes_)++;
    const auto found = mount.stat("dir/file", LastLink::follow);
    if (found && found->size == 7) ++escapes_;
    (void)mount.write("dir/file", {"", "mine", WriteMode::overwrite});
    (void)mount.write("dir/new", {"", "mine", WriteMode::append});
    (void)mount.make_dir("dir/made", Depth::recursive);
    (void)mount.remove("dir/made", Depth::recursive);
    (void)Mount::rename({mount, "dir/new", {}}, {mount, "dir/new2", {}});
    const auto listing = mount.list("dir", 100);
    for (const DirEntry& entry : listing ? listing->entries : std::vector<DirEntry>{}) {
      if (entry.name == "only-outside") ++escapes_;
    }
  }

  TempDir inside_, outside_;
  std::atomic<std::uint64_t> swaps_ = 0, reads_ = 0, escapes_ = 0;
};

TEST_P(SymlinkRace, NeverLeadsOut) {
  outside_.write("only-outside", "s");
  const auto mount = Mount::open({"m", inside_.path(), MountMode::rw, {}, {}, GetParam()}).value();
  std::atomic<bool> stop = false;
  std::thread attacker([&] { swap_until(stop); });
  const auto end = std::chrono::steady_clock::now() + race_time() / 2;
  while (std::chrono::steady_clock::now() < end) use(*mount);
  stop = true;
  attacker.join();
  std::printf("race: %llu swaps, %llu reads, %llu escapes\n", static_cast<unsigned long long>(swaps_),
              static_cast<unsigned long long>(reads_), static_cast<unsigned long long>(escapes_));
  EXPECT_GT(swaps_, 100U);
  EXPECT_GT(reads_, 0U);
  EXPECT_EQ(escapes_, 0U);
  EXPECT_EQ(outside_.read("file"), "SECRET!");
  for (const char* name : {"new", "new2", "made"}) EXPECT_FALSE(outside_.exists(name)) << name;
}

INSTANTIATE_TEST_SUITE_P(Policies, SymlinkRace, testing::Values(Symlinks::follow, Symlinks::forbid),
                         [](const auto& param) {
                           return param.param == Symlinks::follow ? "Follow" : "Forbid";
                         });

}  // namespace
}  // namespace relay::vfs
