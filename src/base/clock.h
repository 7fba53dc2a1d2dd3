// Clock: the time that is written down, kept or compared with something kept: records, expiry, rates. app/
// makes a SystemClock and hands it out; tests use a FakeClock. Timers and deadlines of the event loop are not
// part of this: they use std::chrono::steady_clock, as Asio does.
#pragma once

#include <chrono>
#include <string>

namespace relay {

using WallTime = std::chrono::sys_time<std::chrono::microseconds>;
using MonoTime = std::chrono::steady_clock::time_point;

class Clock {
 public:
  virtual ~Clock() = default;
  /// For people and records: may jump.
  [[nodiscard]] virtual WallTime wall() const = 0;
  /// For durations and deadlines: never goes back.
  [[nodiscard]] virtual MonoTime mono() const = 0;
};

class SystemClock final : public Clock {
 public:
  [[nodiscard]] WallTime wall() const override;
  [[nodiscard]] MonoTime mono() const override;
};

class FakeClock final : public Clock {
 public:
  [[nodiscard]] WallTime wall() const override { return wall_; }
  [[nodiscard]] MonoTime mono() const override { return mono_; }
  void advance(std::chrono::microseconds by) {
    wall_ += by;
    mono_ += by;
  }

 private:
  WallTime wall_{std::chrono::seconds(1'700'000'000)};
  MonoTime mono_{std::chrono::hours(1)};
};

/// "2026-11-15T20:04:05.123456+00:00": UTC, always six digits of a second.
std::string format_iso8601(WallTime time);

}  // namespace relay
