#include "io/run_loop.h"

#include <thread>

#include <gtest/gtest.h>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

namespace relay::io {
namespace {

using namespace std::chrono_literals;

TEST(RunLoop, RunsEverythingAndEndsWithTheLastOfIt) {
  boost::asio::io_context loop;
  int turns = 0;
  std::function<void()> turn = [&] {
    if (++turns < 1000) boost::asio::post(loop, turn);
  };
  boost::asio::post(loop, turn);
  run_loop(loop);
  EXPECT_EQ(turns, 1000);
}

TEST(RunLoop, WaitsForTimersShortAndLong) {
  boost::asio::io_context loop;
  boost::asio::steady_timer timer(loop);
  int fired = 0;
  std::function<void(const boost::system::error_code&)> again = [&](const boost::system::error_code&) {
    if (++fired == 60) return;
    timer.expires_after(fired % 10 == 0 ? std::chrono::microseconds(5ms) : 20us);
    timer.async_wait(again);
  };
  timer.expires_after(1us);
  timer.async_wait(again);
  run_loop(loop);
  EXPECT_EQ(fired, 60);
}

TEST(RunLoop, AnotherThreadCanWakeItAndStopIt) {
  boost::asio::io_context loop;
  const auto work = boost::asio::make_work_guard(loop);
  int seen = 0;
  std::thread other([&] {
    for (int i = 0; i < 100; ++i) {
      if (i % 10 == 0) std::this_thread::sleep_for(1ms);
      boost::asio::post(loop, [&] { ++seen; });
    }
    boost::asio::post(loop, [&] { loop.stop(); });
  });
  run_loop(loop);
  other.join();
  EXPECT_EQ(seen, 100);
}

}  // namespace
}  // namespace relay::io
