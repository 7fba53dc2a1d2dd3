#include "config/cage_masks.h"

#include <unistd.h>

#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace relay::config {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr std::string_view kMounts =
    "1 0 8:1 / / rw - ext4 /dev/a rw\n"
    "2 1 8:2 / /home rw - ext4 /dev/b rw\n"
    "3 2 8:2 /u/state /home/u/shop/bound rw - ext4 /dev/b rw\n"
    "4 2 8:2 /u/state/keys /home/u/shop/k\\040s rw - ext4 /dev/b rw\n"
    "5 2 8:2 /u /home/u/shop/all rw - ext4 /dev/b rw\n"
    "6 2 8:1 /u/state /home/u/shop/other rw - ext4 /dev/a rw\n";

TEST(CageMasks, ReadsMountPoints) {
  const auto mounts = parse_mount_points(kMounts);
  ASSERT_EQ(mounts.size(), 6U);
  EXPECT_EQ(mounts[3].device, "8:2");
  EXPECT_EQ(mounts[3].root, "/u/state/keys");
  EXPECT_EQ(mounts[3].at, "/home/u/shop/k s");
  EXPECT_THAT(parse_mount_points("no mountinfo\n\n"), IsEmpty());
}

TEST(CageMasks, FindsWhatBindMountsShow) {
  const auto mounts = parse_mount_points(kMounts);
  EXPECT_THAT(find_views(mounts, "/home/u/shop", "/home/u/state"),
              UnorderedElementsAre("/home/u/shop/bound", "/home/u/shop/k s", "/home/u/shop/all/state"));
  EXPECT_THAT(find_views(mounts, "/home/u/shop/all", "/home/u/state"), ElementsAre("/home/u/shop/all/state"));
  EXPECT_THAT(
      find_views(mounts, "/home/u/shop", "/home/u/shop/relay.config.json"),
      UnorderedElementsAre("/home/u/shop/relay.config.json", "/home/u/shop/all/shop/relay.config.json"));
  EXPECT_THAT(find_views(mounts, "/home/u/state/keys", "/home/u/state"), ElementsAre("/home/u/state/keys"));
  EXPECT_THAT(find_views(mounts, "/usr", "/home/u/state"), IsEmpty());
}

class CageMasksOnDisk : public testing::Test {
 protected:
  CageMasksOnDisk() {
    fs::remove_all(top_);
    fs::create_directories(top_ / "project/sub");
    fs::create_directories(top_ / "state");
    std::ofstream(config_.file = top_ / "project/relay.config.json") << "{}";
    std::ofstream(config_.token_path = top_ / "state/token") << "secret";
    config_.root = top_ / "project";
    config_.project = top_ / "project/.relay";
    config_.state = top_ / "state";
    config_.audit.path = top_ / "state/audit.jsonl";
    config_.signing_key_path = top_ / "state/keys";
  }
  ~CageMasksOnDisk() override { fs::remove_all(top_); }

  std::vector<std::string> hidden_of(const fs::path& declared) {
    launch::CageSpec cage;
    cage.write = {declared.string()};
    hide_own_files(config_, cage);
    EXPECT_EQ(cage.refusal, "");
    std::vector<std::string> relative;
    for (const std::string& path : cage.hidden)
      relative.push_back(fs::path(path).lexically_relative(declared).string());
    return relative;
  }

  const fs::path top_ = fs::canonical(testing::TempDir()) / fmt::format("relay_cage_masks.{}", ::getpid());
  Config config_;
};

TEST_F(CageMasksOnDisk, CoversTheConfigurationInADeclaredDirectory) {
  EXPECT_THAT(hidden_of(top_ / "project"), ElementsAre("relay.config.json"));
  EXPECT_THAT(hidden_of(top_ / "project/sub"), IsEmpty());
  EXPECT_THAT(hidden_of(top_), UnorderedElementsAre("project/relay.config.json", "state", "state/token"));
}

TEST_F(CageMasksOnDisk, CoversOlderPartsOfTheAuditLog) {
  config_.audit.path = top_ / "project/log.jsonl";
  std::ofstream(top_ / "project/log.jsonl") << "";
  std::ofstream(top_ / "project/log.jsonl.1") << "";
  EXPECT_THAT(hidden_of(top_ / "project"), ElementsAre("log.jsonl", "log.jsonl.1", "relay.config.json"));
}

TEST_F(CageMasksOnDisk, CoversHardLinksOfOwnFiles) {
  fs::create_hard_link(config_.file, top_ / "project/sub/copy.json");
  fs::create_hard_link(top_ / "state/token", top_ / "project/name");
  EXPECT_THAT(hidden_of(top_ / "project"),
              UnorderedElementsAre("name", "relay.config.json", "sub/copy.json"));
  EXPECT_THAT(hidden_of(top_ / "project/sub"), ElementsAre("copy.json"));
}

TEST_F(CageMasksOnDisk, NamesThemAsADeclaredLinkDoes) {
  fs::create_symlink("project", top_ / "link");
  EXPECT_THAT(hidden_of(top_ / "link"), ElementsAre("relay.config.json"));
}

}  // namespace
}  // namespace relay::config
