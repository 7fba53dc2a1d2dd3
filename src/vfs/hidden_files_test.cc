#include "vfs/hidden_files.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include <gtest/gtest.h>

#include "vfs/temp_dir.h"
#include "vfs/workspace.h"

namespace relay::vfs {
namespace {

namespace fs = std::filesystem;

// project/sub/relay.config.json and project/state/keys/key are Relay's own; the project is mounted.
class HiddenFilesTest : public testing::Test {
 protected:
  HiddenFilesTest() : project_(fs::path(dir_.path()) / "project") {
    fs::create_directories(project_ / "sub");
    fs::create_directories(project_ / "state" / "keys");
    put(project_ / "sub" / "relay.config.json", "CONFIG");
    put(project_ / "state" / "keys" / "key", "KEY");
    put(project_ / "notes", "notes");
  }

  static void put(const fs::path& path, const std::string& text) {
    const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    ASSERT_EQ(::write(file.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  static std::string text_of(const fs::path& path) {
    const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    char text[64];
    const ssize_t got = ::read(file.get(), text, sizeof text);
    return {text, got > 0 ? static_cast<std::size_t>(got) : 0};
  }

  Mount& mount() {
    if (!mount_) {
      hidden_ = std::make_shared<HiddenFiles>(
          std::vector<fs::path>{project_ / "sub" / "relay.config.json", project_ / "state"});
      mount_ = Mount::open({.name = "p",
                            .host_path = project_.string(),
                            .mode = MountMode::rw,
                            .allow = {},
                            .deny = {},
                            .symlinks = Symlinks::follow,
                            .hidden = hidden_})
                   .value();
    }
    return *mount_;
  }
  int read_error(const std::string& path) {
    const auto chunk = mount().read(path, 0, 64);
    return chunk ? 0 : chunk.error().number;
  }
  static int number_of(const FileResult<>& result) { return result ? 0 : result.error().number; }
  int write_error(const std::string& path, WriteMode mode) {
    WriteRequest request;
    request.mode = mode;
    request.bytes = "EVIL";
    const auto written = mount().write(path, request);
    return written ? 0 : written.error().number;
  }
  std::string listed(const std::string& path) {
    std::string names;
    for (const DirEntry& entry : mount().list(path, 100).value().entries) names += entry.name + " ";
    return names;
  }

  TempDir dir_;
  fs::path project_;
  std::shared_ptr<HiddenFiles> hidden_;
  std::shared_ptr<Mount> mount_;
};

TEST_F(HiddenFilesTest, NeitherReadNorStatNorListShowsThem) {
  for (const char* path : {"sub/relay.config.json", "state", "state/keys", "state/keys/key"}) {
    EXPECT_EQ(read_error(path), ENOENT) << path;
    const auto found = mount().stat(path, LastLink::follow);
    EXPECT_TRUE(!found && found.error().number == ENOENT) << path;
  }
  EXPECT_EQ(listed(""), "notes sub ");
  EXPECT_EQ(listed("sub"), "");
  EXPECT_EQ(read_error("notes"), 0);
}

TEST_F(HiddenFilesTest, HardLinksAndSymbolicLinksLeadToTheSame) {
  fs::create_hard_link(project_ / "sub" / "relay.config.json", project_ / "hard");
  fs::create_hard_link(project_ / "state" / "keys" / "key", project_ / "hard_key");
  fs::create_hard_link(project_ / "notes", project_ / "hard_notes");
  fs::create_symlink("sub/relay.config.json", project_ / "soft");
  fs::create_directory_symlink("state", project_ / "soft_dir");
  for (const char* path : {"hard", "hard_key", "soft", "soft_dir/keys/key"})
    EXPECT_EQ(read_error(path), ENOENT) << path;
  EXPECT_EQ(read_error("hard_notes"), 0);
  for (const WriteMode mode : {WriteMode::create, WriteMode::append, WriteMode::at, WriteMode::overwrite})
    EXPECT_NE(write_error("hard", mode), 0);
  EXPECT_EQ(write_error("soft", WriteMode::overwrite), EACCES);
  EXPECT_EQ(text_of(project_ / "sub" / "relay.config.json"), "CONFIG");
}

TEST_F(HiddenFilesTest, NoWriteReachesThem) {
  for (const WriteMode mode : {WriteMode::create, WriteMode::overwrite, WriteMode::append, WriteMode::at})
    EXPECT_NE(write_error("sub/relay.config.json", mode), 0);
  EXPECT_EQ(number_of(mount().truncate("sub/relay.config.json", 0)), ENOENT);
  EXPECT_EQ(number_of(mount().remove("sub/relay.config.json", Depth::one)), ENOENT);
  EXPECT_EQ(number_of(mount().remove("state", Depth::recursive)), ENOENT);
  EXPECT_EQ(number_of(Mount::rename({mount(), "sub/relay.config.json", {}}, {mount(), "x", {}})), ENOENT);
  EXPECT_EQ(number_of(Mount::rename({mount(), "notes", {}}, {mount(), "sub/relay.config.json", {}})), EACCES);
  EXPECT_EQ(number_of(Mount::rename({mount(), "notes", {}}, {mount(), "state", {}})), EACCES);
  EXPECT_EQ(text_of(project_ / "sub" / "relay.config.json"), "CONFIG");
  EXPECT_EQ(text_of(project_ / "state" / "keys" / "key"), "KEY");
}

TEST_F(HiddenFilesTest, AMissingFileIsNotMadeInItsPlace) {
  mount();
  fs::remove(project_ / "sub" / "relay.config.json");
  EXPECT_EQ(write_error("sub/relay.config.json", WriteMode::create), ENOENT);
  EXPECT_EQ(write_error("sub/relay.config.json", WriteMode::overwrite), EACCES);
  EXPECT_EQ(number_of(mount().make_dir("sub/relay.config.json", Depth::one)), EACCES);
  EXPECT_FALSE(fs::exists(project_ / "sub" / "relay.config.json"));
}

TEST_F(HiddenFilesTest, ItsDirectoryIsNeitherRenamedNorRemoved) {
  EXPECT_EQ(number_of(Mount::rename({mount(), "sub", {}}, {mount(), "other", {}})), EBUSY);
  fs::remove(project_ / "sub" / "relay.config.json");
  hidden_->refresh();  // what is made next may get the inode of what was removed
  EXPECT_EQ(number_of(mount().remove("sub", Depth::recursive)), EBUSY);
  EXPECT_EQ(number_of(mount().make_dir("new", Depth::one)), 0);
  EXPECT_EQ(number_of(Mount::rename({mount(), "new", {}}, {mount(), "sub", {}})), EBUSY);
}

TEST_F(HiddenFilesTest, ARenamedParentHidesThemAllTheSame) {
  mount();
  fs::rename(project_ / "sub", project_ / "moved");
  fs::rename(project_ / "state", project_ / "moved_state");
  EXPECT_EQ(read_error("moved/relay.config.json"), ENOENT);
  EXPECT_EQ(read_error("moved_state/keys/key"), ENOENT);
}

TEST_F(HiddenFilesTest, AReplacedFileIsHiddenByItsNameAtOnceAndByItsInodeAfterARefresh) {
  mount();
  put(project_ / "new", "NEW");
  fs::rename(project_ / "new", project_ / "sub" / "relay.config.json");
  EXPECT_EQ(read_error("sub/relay.config.json"), ENOENT);
  fs::create_hard_link(project_ / "sub" / "relay.config.json", project_ / "hard");
  hidden_->refresh();
  EXPECT_EQ(read_error("hard"), ENOENT);
}

TEST_F(HiddenFilesTest, AConfigurationThatIsALinkHidesTheLinkAndWhatItLeadsTo) {
  fs::rename(project_ / "sub" / "relay.config.json", project_ / "real.json");
  fs::create_symlink("../real.json", project_ / "sub" / "relay.config.json");
  EXPECT_EQ(read_error("real.json"), ENOENT);
  EXPECT_EQ(number_of(mount().remove("sub/relay.config.json", Depth::one)), ENOENT);
  EXPECT_EQ(listed(""), "notes sub ");
}

TEST_F(HiddenFilesTest, ABindMountHidesThemAllTheSame) {
  fs::create_directory(project_ / "bound");
  if (::mount((project_ / "state").c_str(), (project_ / "bound").c_str(), nullptr, MS_BIND, nullptr) != 0)
    GTEST_SKIP() << "only root can make a bind mount";
  EXPECT_EQ(read_error("bound/keys/key"), ENOENT);
  EXPECT_EQ(listed(""), "notes sub ");
  ::umount2((project_ / "bound").c_str(), MNT_DETACH);
}

TEST_F(HiddenFilesTest, RemovingAllAroundThemLeavesThem) {
  put(project_ / "sub" / "other", "x");
  fs::create_directories(project_ / "deep" / "below");
  EXPECT_EQ(number_of(mount().remove("deep", Depth::recursive)), 0);
  EXPECT_EQ(number_of(mount().remove("sub", Depth::recursive)), EBUSY);
  EXPECT_EQ(text_of(project_ / "sub" / "relay.config.json"), "CONFIG");
}

TEST_F(HiddenFilesTest, NamesWithABeginningAreHiddenWhateverFollows) {
  hidden_ = std::make_shared<HiddenFiles>(std::vector<fs::path>{project_ / "audit.jsonl.*"});
  mount_ = Mount::open({.name = "p",
                        .host_path = project_.string(),
                        .mode = MountMode::ro,
                        .allow = {},
                        .deny = {},
                        .symlinks = Symlinks::follow,
                        .hidden = hidden_})
               .value();
  put(project_ / "audit.jsonl.1", "x");
  put(project_ / "audit.jsonlines", "x");
  EXPECT_EQ(read_error("audit.jsonl.1"), ENOENT);
  EXPECT_EQ(read_error("audit.jsonlines"), 0);
}

TEST_F(HiddenFilesTest, AMountInsideOfThemIsRefused) {
  TreeSpec spec;
  spec.mounts.push_back({.name = "keys",
                         .host_path = (project_ / "state" / "keys").string(),
                         .mode = MountMode::ro,
                         .allow = {},
                         .deny = {},
                         .symlinks = Symlinks::follow,
                         .hidden = nullptr});
  spec.workspace_dir = (project_ / "state" / "workspace").string();
  spec.hidden = std::make_shared<HiddenFiles>(std::vector<fs::path>{project_ / "state"});
  const auto trees = Trees::open(std::move(spec), nullptr);
  ASSERT_FALSE(trees);
  EXPECT_NE(trees.error().message.find("mount 'keys'"), std::string::npos);
}

}  // namespace
}  // namespace relay::vfs
