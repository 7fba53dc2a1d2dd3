#include "vfs/confined_dir.h"

#include <fcntl.h>

#include <gtest/gtest.h>

#include "base/limits.h"
#include "vfs/temp_dir.h"

namespace relay::vfs {
namespace {

class ConfinedDirTest : public testing::Test {
 protected:
  void SetUp() override {
    dir_.write("a/b/file", "x");
    outside_.write("secret", "s");
  }

  std::string resolved(std::string_view path, LastLink last = LastLink::follow) {
    const auto dir = ConfinedDir::open(dir_.path());
    const auto real = dir->resolve(path, last);
    return real ? *real : std::string(errno_name(real.error().number));
  }
  int open_number(std::string_view path, int flags = O_RDONLY) {
    const auto dir = ConfinedDir::open(dir_.path());
    const auto file = dir->open_file(path, flags);
    return file ? 0 : file.error().number;
  }

  TempDir dir_, outside_;
};

TEST_F(ConfinedDirTest, ResolvesLinksThatStayInside) {
  dir_.link("a", "to_dir");
  dir_.link("./a/./b/../b/file", "dotted");
  dir_.link("../../a", "a/b/up");
  dir_.link("to_dir", "twice");
  EXPECT_EQ(resolved("a/b/file"), "a/b/file");
  EXPECT_EQ(resolved("to_dir/b/file"), "a/b/file");
  EXPECT_EQ(resolved("dotted"), "a/b/file");
  EXPECT_EQ(resolved("a/b/up/b/file"), "a/b/file");
  EXPECT_EQ(resolved("twice/b"), "a/b");
  EXPECT_EQ(resolved(""), "");
}

// ".." may come as far as the directory itself and not one step further.
TEST_F(ConfinedDirTest, RefusesLinksThatLeadOut) {
  dir_.link("../..", "a/b/root");
  dir_.link("../../..", "a/b/out");
  dir_.link("..", "parent");
  dir_.link(outside_.path(), "absolute");
  dir_.link("/", "slash");
  EXPECT_EQ(resolved("a/b/root"), "");
  EXPECT_EQ(resolved("a/b/root/a"), "a");
  EXPECT_EQ(resolved("a/b/out"), "EXDEV");
  EXPECT_EQ(resolved("parent"), "EXDEV");
  EXPECT_EQ(resolved("absolute/secret"), "EXDEV");
  EXPECT_EQ(resolved("slash"), "EXDEV");
}

TEST_F(ConfinedDirTest, KeepsTheLastLinkWhenAsked) {
  dir_.link("a", "to_dir");
  dir_.link("b", "a/inner");
  EXPECT_EQ(resolved("to_dir", LastLink::keep), "to_dir");
  EXPECT_EQ(resolved("to_dir/inner", LastLink::keep), "a/inner");
  EXPECT_EQ(resolved("to_dir/inner"), "a/b");
}

TEST_F(ConfinedDirTest, OnlyTheLastPartMayBeMissing) {
  dir_.link("a/new", "dangling");
  EXPECT_EQ(resolved("a/new"), "a/new");
  EXPECT_EQ(resolved("dangling"), "a/new");
  EXPECT_EQ(resolved("a/no/new"), "ENOENT");
  EXPECT_EQ(resolved("a/b/file/x"), "ENOTDIR");
}

TEST_F(ConfinedDirTest, FollowsSoManyLinksAndNotOneMore) {
  const auto chain = [&](std::size_t links, const std::string& name) {
    for (std::size_t i = 1; i < links; ++i) dir_.link(name + std::to_string(i - 1), name + std::to_string(i));
    return name + std::to_string(links - 1);
  };
  dir_.link("a", "x0");
  dir_.link("a", "y0");
  EXPECT_EQ(resolved(chain(limits::kLinksFollowed, "x")), "a");
  EXPECT_EQ(resolved(chain(limits::kLinksFollowed + 1, "y")), "ELOOP");
  dir_.link("self", "self");
  EXPECT_EQ(resolved("self"), "ELOOP");
}

TEST_F(ConfinedDirTest, OpensFollowNoLinkAndDoNotClimb) {
  dir_.link("a/b/file", "link");
  EXPECT_EQ(open_number("a/b/file"), 0);
  EXPECT_EQ(open_number("link"), ELOOP);
  EXPECT_EQ(open_number("../" + outside_.path().substr(outside_.path().rfind('/') + 1) + "/secret"), EXDEV);
  EXPECT_EQ(open_number(outside_.path("secret")), EXDEV);
  EXPECT_EQ(open_number("a/b"), EISDIR);
  EXPECT_EQ(open_number("a/none"), ENOENT);
}

TEST_F(ConfinedDirTest, DescriptorsDoNotOutliveAnExec) {
  const auto dir = ConfinedDir::open(dir_.path());
  const auto file = dir->open_file("a/b/file", O_RDONLY);
  EXPECT_EQ(::fcntl(file->get(), F_GETFD), FD_CLOEXEC);
  EXPECT_EQ(::fcntl(dir->descriptor(), F_GETFD), FD_CLOEXEC);
}

TEST_F(ConfinedDirTest, AFileIsNoDirectoryToConfineTo) {
  EXPECT_EQ(ConfinedDir::open(dir_.path("a/b/file")).error().number, ENOTDIR);
  EXPECT_EQ(ConfinedDir::open(dir_.path("none")).error().number, ENOENT);
}

}  // namespace
}  // namespace relay::vfs
