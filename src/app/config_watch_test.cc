#include "app/config_watch.h"

#include <stdlib.h>
#include <csignal>

#include <fstream>
#include <memory>

#include <gtest/gtest.h>
#include <boost/asio/io_context.hpp>

namespace relay::app {
namespace {

namespace fs = std::filesystem;

class ConfigWatchTest : public testing::Test {
 protected:
  ConfigWatchTest() {
    char name[] = "/tmp/relay-watch-XXXXXX";
    directory_ = ::mkdtemp(name);
    file_ = directory_ / "relay.config.json";
    write(file_, "{}");
  }
  ~ConfigWatchTest() override { fs::remove_all(directory_); }

  static void write(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }

  void watch() {
    const auto on_change = [this](WatchCause cause) { ++(cause == WatchCause::file ? files_ : signals_); };
    watch_ =
        std::make_unique<ConfigWatch>(loop_.get_executor(), file_, on_change, std::chrono::milliseconds(20));
    ASSERT_TRUE(watch_->watching());
    loop_.run_for(std::chrono::milliseconds(20));
  }

  // Runs the loop until something was told, or for a long while.
  bool told(const int& count) {
    const int before = count;
    for (int i = 0; i < 3000 && count == before; ++i) loop_.run_for(std::chrono::milliseconds(10));
    return count > before;
  }

  io::asio::io_context loop_;
  std::unique_ptr<ConfigWatch> watch_;
  fs::path directory_;
  fs::path file_;
  int files_ = 0;
  int signals_ = 0;
};

TEST_F(ConfigWatchTest, AWriteIsTold) {
  watch();
  write(file_, "{ }");
  EXPECT_TRUE(told(files_));
}

TEST_F(ConfigWatchTest, AFileRenamedOverItIsToldAgainAndAgain) {
  watch();
  for (int i = 0; i < 3; ++i) {
    write(directory_ / "new", "{}");
    fs::rename(directory_ / "new", file_);
    EXPECT_TRUE(told(files_)) << i;
  }
}

TEST_F(ConfigWatchTest, OtherFilesAreNot) {
  watch();
  write(directory_ / "other.json", "{}");
  write(file_, "{ }");  // told after the other one would have been
  EXPECT_TRUE(told(files_));
  EXPECT_EQ(files_, 1);
}

TEST_F(ConfigWatchTest, ABurstIsToldOnce) {
  watch();
  for (int i = 0; i < 50; ++i) write(file_, "{ }");
  EXPECT_TRUE(told(files_));
  loop_.run_for(std::chrono::milliseconds(100));
  EXPECT_EQ(files_, 1);
}

TEST_F(ConfigWatchTest, WhatALinkLeadsToCountsToo) {
  fs::create_directory(directory_ / "real");
  write(directory_ / "real" / "config.json", "{}");
  fs::remove(file_);
  fs::create_symlink(directory_ / "real" / "config.json", file_);
  watch();
  write(directory_ / "real" / "config.json", "{ }");
  EXPECT_TRUE(told(files_));
}

TEST_F(ConfigWatchTest, AHangupSignalIsTold) {
  watch();
  ::raise(SIGHUP);
  EXPECT_TRUE(told(signals_));
  EXPECT_EQ(files_, 0);
}

TEST_F(ConfigWatchTest, NothingIsToldAfterItsEnd) {
  watch();
  watch_.reset();
  write(file_, "{ }");
  loop_.run_for(std::chrono::milliseconds(100));
  EXPECT_EQ(files_, 0);
}

TEST_F(ConfigWatchTest, ADirectoryThatIsNotThereIsAnError) {
  const ConfigWatch watch(loop_.get_executor(), file_.parent_path() / "missing" / "relay.config.json",
                          [](WatchCause) {});
  EXPECT_FALSE(watch.watching());
}

}  // namespace
}  // namespace relay::app
