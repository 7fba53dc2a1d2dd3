#include "vfs/tree.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>

#include <gtest/gtest.h>

#include "vfs/temp_dir.h"
#include "vfs/workspace.h"

namespace relay::vfs {
namespace {

class TreeTest : public testing::Test {
 protected:
  void SetUp() override {
    project_.write("README.md", "hello\n");
    project_.write("src/a.cc", "int main() {}\n");
    outside_.write("secret.txt", "secret");
    open();
  }

  MountSpec ro() { return {"project", project_.path(), MountMode::ro, {}, {}, Symlinks::follow}; }
  MountSpec rw() { return {"work", work_.path(), MountMode::rw, {}, {}, Symlinks::follow}; }

  void open(std::vector<MountSpec> mounts, std::optional<policy::FilesystemPolicy> policy = std::nullopt,
            Usage quota = {1 << 20, 100}) {
    TreeSpec spec;
    spec.mounts = std::move(mounts);
    spec.workspace_dir = state_.path("workspace");
    spec.workspace_quota = quota;
    spec.policy = std::move(policy);
    const auto mcps =
        std::make_shared<FixedFiles>(std::vector<FixedFiles::File>{{"github/tools.ts", "export {}"}});
    auto trees = Trees::open(std::move(spec), mcps);
    ASSERT_TRUE(trees) << trees.error().message;
    trees_ = std::move(*trees);
    tree_ = trees_->open_tree(authority::Unrecorded::listing({.principal = "s"})).value();
  }
  void open() { open({ro(), rw()}); }

  int read_number(std::string_view path) {
    const auto chunk = tree_->read(path, 0, 100);
    return chunk ? 0 : chunk.error().number;
  }
  std::string content(std::string_view path) {
    const auto chunk = tree_->read(path, 0, 1 << 20);
    return chunk ? chunk->bytes : chunk.error().message;
  }
  int write_number(std::string path, WriteMode mode = WriteMode::overwrite, std::string bytes = "x") {
    const auto receipt = tree_->write({std::move(path), std::move(bytes), mode});
    return receipt ? 0 : receipt.error().number;
  }
  std::string names(std::string_view path) {
    const auto listing = tree_->list(path);
    if (!listing) return listing.error().message;
    std::string text;
    for (const DirEntry& entry : listing->entries)
      text += entry.name + (entry.type == FileType::directory ? "/ " : " ");
    return text;
  }

  TempDir project_, work_, outside_, state_;
  std::unique_ptr<Trees> trees_;
  std::shared_ptr<Tree> tree_;
};

TEST_F(TreeTest, IsOneTree) {
  EXPECT_EQ(names("/"), "host/ mcps/ out/ tmp/ ");
  EXPECT_EQ(names("/host"), "project/ work/ ");
  EXPECT_EQ(names("/host/project"), "README.md src/ ");
  EXPECT_EQ(names("/mcps/github"), "tools.ts ");
  EXPECT_EQ(content("/host/project/src/a.cc"), "int main() {}\n");
  EXPECT_EQ(content("/mcps/github/tools.ts"), "export {}");
  EXPECT_EQ(tree_->stat("/host")->type, FileType::directory);
  EXPECT_EQ(tree_->stat("/host/project/README.md")->size, 6U);
  EXPECT_EQ(tree_->area_of("/tmp/x"), Tree::Area::workspace);
  EXPECT_EQ(tree_->area_of("/host/work/x"), Tree::Area::host);
  EXPECT_EQ(tree_->area_of("/etc"), Tree::Area::none);
}

TEST_F(TreeTest, ReadsRanges) {
  const auto chunk = tree_->read("/host/project/README.md", 1, 3);
  ASSERT_TRUE(chunk);
  EXPECT_EQ(chunk->bytes, "ell");
  EXPECT_EQ(chunk->size, 6U);
  EXPECT_FALSE(chunk->eof);
  EXPECT_TRUE(tree_->read("/host/project/README.md", 3, 100)->eof);
  EXPECT_EQ(tree_->read("/host/project/README.md", 100, 10)->bytes, "");
  EXPECT_EQ(tree_->read("/mcps/github/tools.ts", 7, 2)->bytes, "{}");
  EXPECT_EQ(tree_->read("/host/project/README.md", UINT64_MAX, 10).error().number, EINVAL);
}

struct ErrnoRow {
  const char* what;
  int expected;
  int actual;
};

TEST_F(TreeTest, ErrnoTable) {
  work_.make_dir("full/inner");
  work_.write("file", "x");
  work_.link("loop", "loop");
  work_.link("/etc/passwd", "absolute");
  work_.link("../../../../etc/passwd", "relative");
  const auto number = [](const auto& result) { return result ? 0 : result.error().number; };
  const ErrnoRow rows[] = {
      {"missing", ENOENT, read_number("/tmp/nothing")},
      {"missing mount", ENOENT, read_number("/host/nowhere/x")},
      {"outside of the tree", ENOENT, read_number("/etc/passwd")},
      {"dots stop at the root", ENOENT, read_number("/tmp/../../../etc/passwd")},
      {"file as directory", ENOTDIR, read_number("/host/work/file/x")},
      {"slash at the end of a file", ENOTDIR, read_number("/host/work/file/")},
      {"directory as file", EISDIR, read_number("/host/work/full")},
      {"virtual directory as file", EISDIR, read_number("/host")},
      {"list a file", ENOTDIR, number(tree_->list("/host/work/file"))},
      {"loop", ELOOP, read_number("/host/work/loop")},
      {"absolute link", EXDEV, read_number("/host/work/absolute")},
      {"link that climbs out", EXDEV, read_number("/host/work/relative")},
      {"long name", ENAMETOOLONG, read_number("/tmp/" + std::string(300, 'n'))},
      {"NUL", EINVAL, read_number(std::string_view("/tmp/a\0b", 8))},
      {"write ro mount", EROFS, write_number("/host/project/new")},
      {"write synthetic", EROFS, write_number("/mcps/github/tools.ts")},
      {"write into /host", ENOENT, write_number("/host/new")},
      {"write root", EROFS, write_number("/")},
      {"write a directory", EISDIR, write_number("/host/work/full")},
      {"write through a file", ENOTDIR, write_number("/host/work/file/x")},
      {"write without parent", ENOENT, write_number("/tmp/no/parent")},
      {"create existing", EEXIST, write_number("/host/work/file", WriteMode::create)},
      {"write at in nothing", ENOENT, write_number("/tmp/nothing", WriteMode::at)},
      {"no room", ENOSPC, write_number("/tmp/big", WriteMode::overwrite, std::string(2 << 20, 'x'))},
      {"mkdir existing", EEXIST, number(tree_->make_dir("/host/work/full", Depth::one))},
      {"mkdir over a file", EEXIST, number(tree_->make_dir("/host/work/file", Depth::recursive))},
      {"mkdir through a file", ENOTDIR, number(tree_->make_dir("/host/work/file/x/y", Depth::recursive))},
      {"remove full directory", ENOTEMPTY, number(tree_->remove("/host/work/full", Depth::one))},
      {"remove a mount", EBUSY, number(tree_->remove("/tmp", Depth::recursive))},
      {"remove missing", ENOENT, number(tree_->remove("/tmp/nothing", Depth::recursive))},
      {"rename missing", ENOENT, number(tree_->rename("/tmp/nothing", "/tmp/x"))},
      {"rename across mounts", EXDEV, number(tree_->rename("/host/work/file", "/tmp/file"))},
      {"truncate ro", EROFS, number(tree_->truncate("/host/project/README.md", 0))},
      {"truncate directory", EISDIR, number(tree_->truncate("/host/work/full", 0))},
  };
  for (const ErrnoRow& row : rows) EXPECT_EQ(errno_name(row.actual), errno_name(row.expected)) << row.what;
}

TEST_F(TreeTest, ErrorsNameTreePathsOnly) {
  const std::string message = tree_->read("/host/work/nothing", 0, 1).error().message;
  EXPECT_EQ(message, "ENOENT: /host/work/nothing: no such file or directory");
}

TEST_F(TreeTest, WritesInEveryMode) {
  EXPECT_EQ(write_number("/tmp/f", WriteMode::create, "abc"), 0);
  EXPECT_EQ(write_number("/tmp/f", WriteMode::append, "def"), 0);
  EXPECT_EQ(content("/tmp/f"), "abcdef");
  auto at = tree_->write({"/tmp/f", "XY", WriteMode::at, 2});
  ASSERT_TRUE(at);
  EXPECT_EQ(at->size, 6U);
  EXPECT_EQ(content("/tmp/f"), "abXYef");
  EXPECT_EQ(write_number("/tmp/f", WriteMode::overwrite, "new"), 0);
  EXPECT_EQ(content("/tmp/f"), "new");
  EXPECT_EQ(write_number("/tmp/log", WriteMode::append, "first"), 0);
  EXPECT_EQ(content("/tmp/log"), "first");
  const auto kept = tree_->write({"/tmp/f", "", WriteMode::create, 0, Existing::keep});
  ASSERT_TRUE(kept);
  EXPECT_FALSE(kept->created);
  EXPECT_EQ(content("/tmp/f"), "new");
  auto deep = tree_->write({"/out/a/b/c.txt", "deep", WriteMode::create, 0, Existing::refuse,
                            Parents::created, Durability::synced});
  ASSERT_TRUE(deep) << deep.error().message;
  EXPECT_TRUE(deep->created);
  ASSERT_TRUE(tree_->truncate("/out/a/b/c.txt", 2));
  EXPECT_EQ(content("/out/a/b/c.txt"), "de");
}

TEST_F(TreeTest, ReplacingKeepsModeAndLeavesNothingBehind) {
  work_.write("script.sh", "old");
  ASSERT_EQ(::chmod(work_.path("script.sh").c_str(), 0751), 0);
  auto receipt = tree_->write({"/host/work/script.sh", "new", WriteMode::overwrite, 0, Existing::refuse,
                               Parents::required, Durability::synced});
  ASSERT_TRUE(receipt);
  EXPECT_FALSE(receipt->created);
  EXPECT_EQ(tree_->stat("/host/work/script.sh")->mode, 0751U);
  EXPECT_EQ(work_.read("script.sh"), "new");
  EXPECT_EQ(names("/host/work"), "script.sh ");
}

TEST_F(TreeTest, ReplacingThroughALinkKeepsTheLink) {
  work_.write("real/file", "old");
  work_.link("real/file", "alias");
  EXPECT_EQ(write_number("/host/work/alias", WriteMode::overwrite, "new"), 0);
  EXPECT_EQ(work_.read("real/file"), "new");
  EXPECT_EQ(tree_->stat("/host/work/alias", LastLink::keep)->type, FileType::link);
}

TEST_F(TreeTest, FollowsLinksBeneathTheMountOnly) {
  project_.link("src", "code");
  project_.link("../README.md", "src/up");
  project_.link(outside_.path(), "out");
  project_.link("../" + outside_.path().substr(5) + "/secret.txt", "climb");
  EXPECT_EQ(content("/host/project/code/a.cc"), "int main() {}\n");
  EXPECT_EQ(content("/host/project/code/up"), "hello\n");
  EXPECT_EQ(names("/host/project/code"), "a.cc up ");
  EXPECT_EQ(read_number("/host/project/out/secret.txt"), EXDEV);
  EXPECT_EQ(read_number("/host/project/climb"), EXDEV);
  MountSpec strict = ro();
  strict.symlinks = Symlinks::forbid;
  open({strict});
  EXPECT_EQ(read_number("/host/project/code/a.cc"), ELOOP);
  EXPECT_EQ(tree_->stat("/host/project/code", LastLink::keep)->type, FileType::link);
}

TEST_F(TreeTest, MagicLinksAreNotFollowed) {
  open({{"proc", "/proc/self", MountMode::ro, {}, {}, Symlinks::follow}});
  EXPECT_NE(read_number("/host/proc/root/etc/hostname"), 0);
  EXPECT_NE(read_number("/host/proc/cwd/CMakeLists.txt"), 0);
  EXPECT_NE(read_number("/host/proc/fd/0"), 0);
}

TEST_F(TreeTest, RulesHoldAlsoThroughLinks) {
  project_.write("secret/key", "k");
  project_.link("secret", "public");
  project_.link("secret/key", "innocent.md");
  MountSpec spec = ro();
  spec.deny = {"secret/**", "*.pem"};
  project_.write("src/id.pem", "p");
  open({spec});
  EXPECT_EQ(read_number("/host/project/secret/key"), EACCES);
  EXPECT_EQ(read_number("/host/project/public/key"), EACCES);
  EXPECT_EQ(read_number("/host/project/innocent.md"), EACCES);
  EXPECT_EQ(read_number("/host/project/src/id.pem"), EACCES);
  EXPECT_EQ(read_number("/host/project/src/../secret/key"), EACCES);
  EXPECT_EQ(names("/host/project/src"), "a.cc ");
}

TEST_F(TreeTest, AllowListsShowOnlyTheWayToWhatTheyAllow) {
  project_.write("docs/guide/x.md", "x");
  MountSpec spec = ro();
  spec.allow = {"docs/**"};
  open({spec});
  EXPECT_EQ(names("/host/project"), "docs/ ");
  EXPECT_EQ(content("/host/project/docs/guide/x.md"), "x");
  EXPECT_EQ(read_number("/host/project/README.md"), EACCES);
  EXPECT_EQ(tree_->stat("/host/project/README.md").error().number, EACCES);
}

TEST_F(TreeTest, RulesSurviveRenamingAndRemoval) {
  MountSpec spec = rw();
  spec.deny = {"d/secret"};
  work_.write("d/secret", "s");
  work_.write("d/x", "x");
  open({spec});
  EXPECT_EQ(tree_->rename("/host/work/d", "/host/work/e").error().number, EACCES);
  EXPECT_EQ(tree_->rename("/host/work/d/secret", "/host/work/y").error().number, EACCES);
  EXPECT_EQ(tree_->rename("/host/work/d/x", "/host/work/d/secret").error().number, EACCES);
  EXPECT_EQ(tree_->remove("/host/work/d", Depth::recursive).error().number, EACCES);
  EXPECT_EQ(work_.read("d/secret"), "s");
}

TEST_F(TreeTest, PipesSocketsAndDevicesAreRefused) {
  ASSERT_EQ(::mkfifo(work_.path("pipe").c_str(), 0600), 0);
  const Fd socket(::socket(AF_UNIX, SOCK_STREAM, 0));
  sockaddr_un address{.sun_family = AF_UNIX};
  std::snprintf(address.sun_path, sizeof address.sun_path, "%s", work_.path("socket").c_str());
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(read_number("/host/work/pipe"), EACCES);
  EXPECT_EQ(read_number("/host/work/socket"), EACCES);
  EXPECT_EQ(write_number("/host/work/pipe"), EACCES);
  EXPECT_EQ(write_number("/host/work/pipe", WriteMode::append), EACCES);
  EXPECT_EQ(tree_->stat("/host/work/pipe")->type, FileType::other);
  open({{"dev", "/dev", MountMode::ro, {}, {}, Symlinks::follow}});
  EXPECT_EQ(read_number("/host/dev/null"), EACCES);
}

TEST_F(TreeTest, DirectoriesComeAndGo) {
  ASSERT_TRUE(tree_->make_dir("/tmp/a/b/c", Depth::recursive));
  ASSERT_TRUE(tree_->make_dir("/tmp/a/b/c", Depth::recursive));
  EXPECT_EQ(write_number("/tmp/a/b/c/f"), 0);
  ASSERT_TRUE(tree_->rename("/tmp/a", "/out/moved"));
  EXPECT_EQ(content("/out/moved/b/c/f"), "x");
  ASSERT_TRUE(tree_->remove("/out/moved", Depth::recursive));
  EXPECT_EQ(names("/out"), "");
  work_.make_dir("d");
  work_.link(outside_.path(), "d/link");
  ASSERT_TRUE(tree_->remove("/host/work/d", Depth::recursive));
  EXPECT_EQ(outside_.read("secret.txt"), "secret");
}

TEST_F(TreeTest, QuotaCountsBothAreasAndIsPaidBack) {
  open({}, std::nullopt, {1000, 4});
  EXPECT_EQ(write_number("/tmp/a", WriteMode::overwrite, std::string(400, 'x')), 0);
  EXPECT_EQ(write_number("/out/b", WriteMode::overwrite, std::string(400, 'x')), 0);
  EXPECT_EQ(write_number("/out/c", WriteMode::create, std::string(400, 'x')), ENOSPC);
  EXPECT_EQ(write_number("/out/b", WriteMode::append, std::string(201, 'x')), ENOSPC);
  EXPECT_EQ(tree_->truncate("/tmp/a", 601).error().number, ENOSPC);
  ASSERT_TRUE(tree_->truncate("/tmp/a", 10));
  EXPECT_EQ(write_number("/out/b", WriteMode::append, std::string(500, 'x')), 0);
  ASSERT_TRUE(tree_->remove("/out/b", Depth::one));
  for (int i = 0; i < 50; ++i)
    EXPECT_EQ(write_number("/out/again", WriteMode::overwrite, std::string(300, 'x')), 0);
  ASSERT_TRUE(tree_->rename("/out/again", "/tmp/a"));
  EXPECT_EQ(write_number("/tmp/z", WriteMode::overwrite, std::string(600, 'x')), 0);
}

TEST_F(TreeTest, QuotaNoticesWhatPeopleDelete) {
  open({}, std::nullopt, {1000, 100});
  EXPECT_EQ(write_number("/tmp/a", WriteMode::overwrite, std::string(900, 'x')), 0);
  EXPECT_EQ(write_number("/tmp/b", WriteMode::overwrite, std::string(900, 'x')), ENOSPC);
  std::filesystem::remove(state_.path("workspace/shared/tmp/a"));
  int refused = 0;
  while (refused < 40 && write_number("/tmp/b", WriteMode::overwrite, std::string(900, 'x')) != 0) ++refused;
  EXPECT_LT(refused, 40);
}

TEST_F(TreeTest, QuotaCountsWhatLiesBelow128Directories) {
  open({}, std::nullopt, {1000, 1000});
  std::string deep = "/tmp";
  for (int i = 0; i < 140; ++i) deep += "/d";
  ASSERT_TRUE(tree_->make_dir(deep, Depth::recursive));
  EXPECT_EQ(write_number(deep + "/a", WriteMode::overwrite, std::string(900, 'x')), 0);
  for (int i = 0; i < 70; ++i)
    EXPECT_EQ(write_number(deep + "/b", WriteMode::create, std::string(900, 'x')), ENOSPC);
  open({}, std::nullopt, {1000, 1000});  // the next start of the server
  EXPECT_EQ(write_number("/out/b", WriteMode::create, std::string(900, 'x')), ENOSPC);
  EXPECT_EQ(write_number("/out/b", WriteMode::create, std::string(100, 'x')), 0);
}

TEST_F(TreeTest, FilesThatExceedTheQuotaFromBeforeLeaveNoRoom) {
  open({}, std::nullopt, {1000, 1000});
  std::filesystem::create_directories(state_.path("workspace/shared/tmp/x/y"));
  open({}, std::nullopt, {1000, 2});
  EXPECT_EQ(write_number("/tmp/a", WriteMode::create), ENOSPC);
  EXPECT_EQ(tree_->make_dir("/out/d", Depth::one).error().number, ENOSPC);
}

TEST_F(TreeTest, WhatDoesNotFitLeavesNoEmptyFileBehind) {
  for (const WriteMode mode : {WriteMode::create, WriteMode::append, WriteMode::overwrite}) {
    EXPECT_EQ(write_number("/tmp/big", mode, std::string(2 << 20, 'x')), ENOSPC);
    EXPECT_EQ(read_number("/tmp/big"), ENOENT);
  }
  EXPECT_EQ(write_number("/tmp/big", WriteMode::create), 0);
  EXPECT_EQ(write_number("/tmp/big", WriteMode::append, std::string(2 << 20, 'x')), ENOSPC);
  EXPECT_EQ(content("/tmp/big"), "x");
}

TEST_F(TreeTest, FileCountIsBoundedToo) {
  open({}, std::nullopt, {1 << 20, 3});
  ASSERT_TRUE(tree_->make_dir("/tmp/d", Depth::one));
  EXPECT_EQ(write_number("/tmp/d/a", WriteMode::create), 0);
  EXPECT_EQ(write_number("/tmp/d/b", WriteMode::append), 0);
  EXPECT_EQ(write_number("/tmp/d/c", WriteMode::create), ENOSPC);
  EXPECT_EQ(tree_->make_dir("/tmp/e", Depth::one).error().number, ENOSPC);
  ASSERT_TRUE(tree_->remove("/tmp/d", Depth::recursive));
  EXPECT_EQ(write_number("/tmp/c", WriteMode::create), 0);
}

TEST_F(TreeTest, PolicyNarrowsTheTree) {
  open({ro(), rw()}, policy::FilesystemPolicy{{"/host/project/src"}, {"/tmp", "/host/project"}, {}});
  EXPECT_EQ(names("/"), "host/ tmp/ ");
  EXPECT_EQ(read_number("/out/x"), EACCES);
  EXPECT_EQ(write_number("/host/work/x"), EACCES);
  EXPECT_EQ(write_number("/host/project/x"), EROFS);  // the mount itself is ro
  EXPECT_EQ(write_number("/tmp/x"), 0);
  const Tree narrow = tree_->narrowed({{"/host/project/src"}, {}, {}});
  EXPECT_TRUE(narrow.read("/host/project/src/a.cc", 0, 1));
  EXPECT_EQ(narrow.read("/host/project/README.md", 0, 1).error().number, EACCES);
  EXPECT_EQ(narrow.list("/host/project")->entries.size(), 1U);
  EXPECT_EQ(narrow.read("/tmp/x", 0, 1).error().number, EACCES);
}

TEST_F(TreeTest, EmptyListsOfAPolicyGrantNothingNotEvenInWritableMounts) {
  open({ro(), rw()}, policy::FilesystemPolicy{{}, {}, {}});
  EXPECT_EQ(read_number("/host/work/file"), EACCES);
  EXPECT_EQ(write_number("/host/work/file"), EACCES);
  EXPECT_EQ(write_number("/tmp/x"), EACCES);
  EXPECT_EQ(tree_->make_dir("/host/work/d", Depth::one).error().number, EACCES);
  EXPECT_NE(names("/").find("EACCES"), std::string::npos);
}

TEST_F(TreeTest, DeniedPathsAreNeitherReadNorWrittenNorSeen) {
  work_.write("open/a", "a");
  work_.write("open/secret/key", "key");
  open({ro(), rw()}, policy::FilesystemPolicy{{"/"}, {"/host/work", "/tmp"}, {"/host/work/open/secret"}});
  EXPECT_EQ(content("/host/work/open/a"), "a");
  EXPECT_EQ(read_number("/host/work/open/secret/key"), EACCES);
  EXPECT_EQ(tree_->stat("/host/work/open/secret").error().number, EACCES);
  EXPECT_EQ(names("/host/work/open"), "a ");
  EXPECT_EQ(write_number("/host/work/open/secret/key"), EACCES);
  EXPECT_EQ(tree_->rename("/host/work/open", "/host/work/moved").error().number, EACCES);
  EXPECT_EQ(tree_->remove("/host/work/open", Depth::recursive).error().number, EACCES);
  const Tree all = tree_->narrowed({{"/"}, {"/"}, {}});
  EXPECT_EQ(all.read("/host/work/open/secret/key", 0, 1).error().number, EACCES);
}

TEST_F(TreeTest, ALinkDoesNotLeaveThePolicy) {
  work_.write("pub/file", "public");
  work_.write("hidden/key", "key");
  ASSERT_EQ(::symlink("../hidden/key", work_.path("pub/link").c_str()), 0);
  ASSERT_EQ(::symlink("../hidden", work_.path("pub/dir").c_str()), 0);
  ASSERT_EQ(::symlink("../pub/file", work_.path("hidden/back").c_str()), 0);
  ASSERT_EQ(::symlink("../hidden/back", work_.path("pub/round").c_str()), 0);
  ASSERT_EQ(::symlink("file", work_.path("pub/near").c_str()), 0);
  open({rw()}, policy::FilesystemPolicy{{"/host/work/pub"}, {"/host/work/pub"}, {}});
  EXPECT_EQ(content("/host/work/pub/near"), "public");
  EXPECT_EQ(read_number("/host/work/pub/link"), EACCES);
  EXPECT_EQ(tree_->stat("/host/work/pub/link").error().number, EACCES);
  EXPECT_EQ(read_number("/host/work/pub/dir/key"), EACCES);
  EXPECT_EQ(tree_->list("/host/work/pub/dir").error().number, EACCES);
  EXPECT_EQ(read_number("/host/work/pub/round"), EACCES);  // ends where it may, but leads through where not
  EXPECT_EQ(write_number("/host/work/pub/link"), EACCES);
  EXPECT_EQ(write_number("/host/work/pub/dir/new", WriteMode::create), EACCES);
  EXPECT_EQ(tree_->remove("/host/work/pub/dir/key", Depth::one).error().number, EACCES);
  EXPECT_EQ(tree_->truncate("/host/work/pub/link", 0).error().number, EACCES);
  EXPECT_EQ(tree_->make_dir("/host/work/pub/dir/d", Depth::recursive).error().number, EACCES);
}

TEST_F(TreeTest, MissingDirectoriesAreMadeOnlyWhereThePolicyLetsWrite) {
  open({rw()}, policy::FilesystemPolicy{{"/"}, {"/host/work/a/b"}, {}});
  WriteRequest request{"/host/work/a/b/c/file", "x", WriteMode::create};
  request.parents = Parents::created;
  EXPECT_EQ(tree_->write(request).error().number, ENOENT);
  std::filesystem::create_directories(work_.path("a"));
  EXPECT_TRUE(tree_->write(request));
}

TEST_F(TreeTest, AGuardIsAskedAboutChangesBelowHostAlone) {
  work_.write("file", "x");
  ASSERT_EQ(::symlink("file", work_.path("yes").c_str()), 0);
  const Tree guarded = tree_->guarded([](std::string_view path) { return path == "/host/work/yes"; });
  Tree view = guarded;
  const auto number = [&](std::string path) {
    const auto receipt = view.write({std::move(path), "x", WriteMode::append});
    return receipt ? 0 : receipt.error().number;
  };
  EXPECT_EQ(number("/tmp/x"), 0);
  EXPECT_EQ(number("/host/work/file"), EACCES);
  EXPECT_EQ(number("/host/work/yes"), EACCES);  // the guard hears of the place that the link leads to
  EXPECT_TRUE(view.read("/host/work/file", 0, 1));
}

TEST_F(TreeTest, ChangedMountsAndPolicyHoldForTheNextTreeAndTheWorkspaceStays) {
  ASSERT_EQ(write_number("/tmp/kept"), 0);
  ASSERT_EQ(write_number("/tmp/secret"), 0);
  const auto before = tree_;
  MountSpec less = rw();
  less.mode = MountMode::ro;
  const MountSpec missing{"gone", work_.path("nowhere"), MountMode::ro, {}, {}, Symlinks::follow};
  const policy::FilesystemPolicy policy{.readonly = {"/"}, .writable = {"/tmp"}, .denied = {"/tmp/secret"}};
  EXPECT_EQ(trees_->change({less, missing, less}, policy).size(), 2U) << "one is missing, one is there twice";
  tree_ = trees_->open_tree(authority::Unrecorded::listing({.principal = "s"})).value();
  EXPECT_NE(write_number("/host/work/f"), 0);
  EXPECT_EQ(read_number("/host/project/README.md"), ENOENT);
  EXPECT_NE(read_number("/tmp/secret"), 0);
  EXPECT_EQ(content("/tmp/kept"), "x");
  EXPECT_EQ(names("/host"), "work/ ");
  EXPECT_TRUE(before->write({"/host/work/f", "x"})) << "a call that runs keeps what it has";
}

// A rule for one file would be evaded by giving its directory another name, or by making the directory
// elsewhere and moving it to where the rule is.
TEST_F(TreeTest, AGuardIsAskedAboutWhatARenamedDirectoryHolds) {
  std::filesystem::create_directories(work_.path("a/deep"));
  std::filesystem::create_directories(work_.path("free/deep"));
  work_.write("a/deep/denied", "x");
  work_.write("free/deep/file", "x");
  Tree view = tree_->guarded([](std::string_view path) {
    return path != "/host/work/a/deep/denied" && path != "/host/work/target/deep/file";
  });
  const auto number = [&](const char* from, const char* to) {
    const auto renamed = view.rename(from, to);
    return renamed ? 0 : renamed.error().number;
  };
  EXPECT_EQ(number("/host/work/a", "/host/work/b"), EACCES) << "it would leave with its directory";
  EXPECT_EQ(number("/host/work/a/deep", "/host/work/b"), EACCES);
  EXPECT_EQ(number("/host/work/free", "/host/work/target"), EACCES)
      << "it would get there with its directory";
  EXPECT_TRUE(std::filesystem::exists(work_.path("a/deep/denied")));
  EXPECT_EQ(number("/host/work/free", "/host/work/elsewhere"), 0);
  EXPECT_TRUE(std::filesystem::exists(work_.path("elsewhere/deep/file")));
}

TEST_F(TreeTest, SessionsHaveTheirOwnWorkspace) {
  TreeSpec spec;
  spec.workspace_dir = state_.path("sessions");
  spec.workspace = WorkspaceKind::session;
  auto trees = Trees::open(spec, nullptr).value();
  const auto open = [&](std::string session) {
    return trees
        ->open_tree(authority::Unrecorded::listing({.principal = "me", .session_id = std::move(session)}))
        .value();
  };
  const auto a = open("../../a"), b = open("b");
  ASSERT_TRUE(a->write({"/tmp/f", "a"}));
  EXPECT_EQ(b->read("/tmp/f", 0, 1).error().number, ENOENT);
  EXPECT_EQ(open("../../a"), a);
  ASSERT_TRUE(trees->close(authority::key_of_client({.principal = "me", .session_id = "../../a"})));
  EXPECT_EQ(open("../../a")->read("/tmp/f", 0, 1).error().number, ENOENT);
}

TEST_F(TreeTest, WhatProgramsKeepForLaterIsOneClientsAlsoInASharedWorkspace) {
  TreeSpec spec;
  spec.workspace_dir = state_.path("shared");
  auto trees = Trees::open(spec, nullptr).value();
  const auto open = [&](const authority::Caller& caller) {
    return trees->open_tree(authority::Unrecorded::listing(caller)).value();
  };
  const auto a = open({.principal = "local", .session_id = "a"});
  const auto b = open({.principal = "local", .session_id = "b"});
  ASSERT_TRUE(a->write({"/tmp/f", "x"}));
  EXPECT_TRUE(b->read("/tmp/f", 0, 1));
  ASSERT_TRUE(a->write({"/tmp/.relay/tools", "x"}));
  EXPECT_TRUE(a->read("/tmp/.relay/tools", 0, 1));
  EXPECT_EQ(b->read("/tmp/.relay/tools", 0, 1).error().number, ENOENT);
  EXPECT_EQ(b->read("/tmp/../tmp/.relay/tools", 0, 1).error().number, ENOENT);
  EXPECT_EQ(a->area_of("/tmp/.relay/tools"), Tree::Area::workspace);
  const auto much = a->write({"/tmp/.relay/much", std::string(17 * limits::kMiB, 'x')});
  ASSERT_FALSE(much) << "as many clients as like may have one";
  EXPECT_EQ(much.error().number, ENOSPC);
}

TEST_F(TreeTest, AClientThatNothingTellsFromOthersHasNoWorkspaceOfItsOwn) {
  TreeSpec spec;
  spec.workspace_dir = state_.path("own");
  spec.workspace = WorkspaceKind::session;
  auto trees = Trees::open(spec, nullptr).value();
  const auto tree = trees->open_tree(authority::Unrecorded::listing({.principal = "local"})).value();
  const auto written = tree->write({"/tmp/f", "x"});
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().message.find("it needs an MCP session"), std::string::npos)
      << written.error().message;
}

TEST_F(TreeTest, AnAuthenticatedClientFindsItsFilesAgainAndOthersDoNotOutliveTheirProcess) {
  TreeSpec spec;
  spec.workspace_dir = state_.path("again");
  spec.workspace = WorkspaceKind::session;
  const authority::Caller ann{.principal = "ann"};
  const authority::Caller guest{.principal = "local", .session_id = "s"};
  for (const bool again : {false, true}) {
    auto trees = Trees::open(spec, nullptr).value();
    const auto of_ann = trees->open_tree(authority::Unrecorded::listing(ann)).value();
    const auto of_guest = trees->open_tree(authority::Unrecorded::listing(guest)).value();
    EXPECT_EQ(static_cast<bool>(of_ann->read("/tmp/f", 0, 1)), again);
    EXPECT_FALSE(of_guest->read("/tmp/f", 0, 1));
    ASSERT_TRUE(of_ann->write({"/tmp/f", "x"}) || again);
    ASSERT_TRUE(of_guest->write({"/tmp/f", "x"}));
  }
}

TEST_F(TreeTest, BadSpecsSayWhatIsWrong) {
  const auto message = [&](MountSpec mount) {
    TreeSpec spec;
    spec.workspace_dir = state_.path("w");
    spec.mounts = {mount, ro()};
    const auto trees = Trees::open(spec, nullptr);
    return trees ? std::string() : trees.error().message;
  };
  EXPECT_NE(message({"a/b", "/tmp"}).find("mount name 'a/b'"), std::string::npos);
  EXPECT_NE(message({"x", "/no/such/dir"}).find("mount 'x': ENOENT"), std::string::npos);
  EXPECT_NE(message({"project", "/tmp"}).find("two mounts are named 'project'"), std::string::npos);
  EXPECT_NE(message({"y", "/tmp", MountMode::ro, {"[x"}}).find("mount 'y': rule '[x'"), std::string::npos);
}

}  // namespace
}  // namespace relay::vfs
