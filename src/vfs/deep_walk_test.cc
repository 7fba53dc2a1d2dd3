#include "vfs/deep_walk.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "vfs/temp_dir.h"

namespace relay::vfs {
namespace {

Fd open_directory(const std::string& path) {
  return Fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

// Deeper than a path can say: each level is made beneath the descriptor of the last.
void make_levels(const std::string& path, int levels, std::string_view content) {
  Fd at = open_directory(path);
  for (int i = 0; i < levels; ++i) {
    ASSERT_EQ(::mkdirat(at.get(), "d", 0700), 0);
    at = Fd(::openat(at.get(), "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
  const Fd file(::openat(at.get(), "f", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_EQ(::write(file.get(), content.data(), content.size()), static_cast<ssize_t>(content.size()));
}

// For the time of a test this process may open few files.
class FewDescriptors {
 public:
  FewDescriptors() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit few{64, before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &few);
  }
  ~FewDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

TEST(DeepWalk, CountsBelow128DirectoriesAndBelowTheLongestPath) {
  for (const int levels : {127, 128, 129, 200, 3000}) {
    const TempDir dir;
    make_levels(dir.path(), levels, "12345");
    const FewDescriptors few;
    Usage usage;
    EXPECT_EQ(add_usage(open_directory(dir.path()), usage, {}), WalkEnd::complete);
    EXPECT_EQ(usage.files, static_cast<std::uint64_t>(levels) + 1);
    EXPECT_EQ(usage.bytes, 5U);
    EXPECT_EQ(remove_beneath(open_directory(dir.path())), WalkEnd::complete);
    EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
  }
}

TEST(DeepWalk, CountsEverySiblingOnce) {
  const TempDir dir;
  dir.write("a/b/1", "1");
  dir.write("a/b/2", "22");
  dir.write("a/c/3", "333");
  dir.write("d/4", "4444");
  dir.make_dir("e");
  dir.write("5", "55555");
  Usage usage;
  EXPECT_EQ(add_usage(open_directory(dir.path()), usage, {}), WalkEnd::complete);
  EXPECT_EQ(usage.files, 10U);
  EXPECT_EQ(usage.bytes, 15U);
}

TEST(DeepWalk, FollowsNoLink) {
  const TempDir outside, dir;
  outside.write("big", std::string(1000, 'x'));
  dir.link(outside.path(), "link");
  dir.link(outside.path("big"), "file");
  Usage usage;
  EXPECT_EQ(add_usage(open_directory(dir.path()), usage, {}), WalkEnd::complete);
  EXPECT_EQ(usage.files, 2U);
  EXPECT_EQ(usage.bytes, 0U);
  EXPECT_EQ(remove_beneath(open_directory(dir.path())), WalkEnd::complete);
  EXPECT_EQ(outside.read("big").size(), 1000U);
}

TEST(DeepWalk, StopsWhenItIsAsked) {
  const TempDir dir;
  dir.write("a/b", "x");
  std::stop_source stop;
  stop.request_stop();
  Usage usage;
  EXPECT_EQ(add_usage(open_directory(dir.path()), usage, stop.get_token()), WalkEnd::stopped);
}

TEST(DeepWalk, SaysWhenADirectoryWasMovedMeanwhile) {
  const TempDir dir;
  dir.write("a/b/f", "x");
  dir.make_dir("elsewhere");
  const auto visit = [&](const Fd&, const char* name, FileType) {
    if (std::string_view(name) == "f") std::filesystem::rename(dir.path("a/b"), dir.path("elsewhere/b"));
  };
  EXPECT_EQ(walk_deep(open_directory(dir.path("a")), {.visit = visit}), WalkEnd::failed);
}

TEST(DeepWalk, ADirectoryThatVanishesIsNoFailure) {
  const TempDir dir;
  dir.make_dir("a");
  dir.make_dir("b");
  const auto visit = [&](const Fd&, const char*, FileType) {
    std::filesystem::remove_all(dir.path("a"));
    std::filesystem::remove_all(dir.path("b"));
  };
  EXPECT_EQ(walk_deep(open_directory(dir.path()), {.visit = visit}), WalkEnd::complete);
}

TEST(DeepWalk, WhatIsNoDirectoryIsAFailure) {
  const TempDir dir;
  dir.write("f", "x");
  Usage usage;
  EXPECT_EQ(add_usage(Fd(::open(dir.path("f").c_str(), O_RDONLY | O_CLOEXEC)), usage, {}), WalkEnd::failed);
}

}  // namespace
}  // namespace relay::vfs
