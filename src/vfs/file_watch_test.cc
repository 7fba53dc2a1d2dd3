#include "vfs/file_watch.h"

#include <gtest/gtest.h>
#include <boost/asio/io_context.hpp>

#include "base/limits.h"
#include "vfs/temp_dir.h"

namespace relay::vfs {
namespace {

class FileWatchTest : public testing::Test {
 protected:
  FileWatchTest() {
    dir_.write("a/file", "1");
    dir_.write("a/other", "1");
    TreeParts parts;
    parts.host.push_back(
        Mount::open({"p", dir_.path(), MountMode::ro, {}, {"hidden"}, Symlinks::follow}).value());
    tree_.emplace(std::move(parts));
    watcher_ = FileWatcher::open(loop_.get_executor(), [this](const std::string& key) {
                 seen_.push_back(key);
               }).value();
  }

  void watch(const std::string& path) {
    auto target = open_watch_target(*tree_, path);
    ASSERT_TRUE(target) << target.error().message;
    ASSERT_TRUE(watcher_->watch(path, *target));
  }
  // Runs the loop until something was reported or the loop has been idle for a while.
  std::vector<std::string> reports() {
    seen_.clear();
    loop_.restart();
    for (int i = 0; i < 50 && seen_.empty(); ++i) loop_.run_for(std::chrono::milliseconds(20));
    return seen_;
  }

  TempDir dir_;
  std::optional<Tree> tree_;
  boost::asio::io_context loop_;
  std::unique_ptr<FileWatcher> watcher_;
  std::vector<std::string> seen_;
};

using Keys = std::vector<std::string>;

TEST_F(FileWatchTest, SeesAFileThatIsWrittenReplacedAndRemoved) {
  watch("/host/p/a/file");
  dir_.write("a/file", "2");
  EXPECT_EQ(reports(), Keys{"/host/p/a/file"});
  dir_.write("a/new", "3");
  std::filesystem::rename(dir_.path("a/new"), dir_.path("a/file"));
  EXPECT_EQ(reports(), Keys{"/host/p/a/file"});
  std::filesystem::remove(dir_.path("a/file"));
  EXPECT_EQ(reports(), Keys{"/host/p/a/file"});
}

TEST_F(FileWatchTest, OthersInTheDirectoryAreNoNews) {
  watch("/host/p/a/file");
  watch("/host/p/a/other");
  dir_.write("a/other", "2");
  EXPECT_EQ(reports(), Keys{"/host/p/a/other"});
  watcher_->unwatch("/host/p/a/other");
  dir_.write("a/other", "3");
  dir_.write("a/file", "3");
  EXPECT_EQ(reports(), Keys{"/host/p/a/file"});
}

TEST_F(FileWatchTest, ADirectoryTellsWhichNamesComeAndGo) {
  watch("/host/p/a");
  dir_.write("a/new", "x");
  EXPECT_EQ(reports(), Keys{"/host/p/a"});
}

TEST_F(FileWatchTest, WhatMayNotBeReadIsNotWatched) {
  dir_.write("hidden/x", "x");
  EXPECT_EQ(open_watch_target(*tree_, "/host/p/hidden/x").error().number, EACCES);
  EXPECT_EQ(open_watch_target(*tree_, "/host/p/nothing").error().number, ENOENT);
  EXPECT_EQ(open_watch_target(*tree_, "/host").error().number, EINVAL);
}

TEST_F(FileWatchTest, TooManyAreRefused) {
  const auto target = open_watch_target(*tree_, "/host/p/a").value();
  for (std::size_t i = 0; i < limits::kWatchedFiles; ++i)
    ASSERT_TRUE(watcher_->watch(fmt::format("k{}", i), target));
  EXPECT_FALSE(watcher_->watch("one more", target));
  EXPECT_TRUE(watcher_->watch("k0", target));
}

}  // namespace
}  // namespace relay::vfs
