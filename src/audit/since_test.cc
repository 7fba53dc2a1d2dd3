#include "audit/since.h"

#include <gmock/gmock.h>

namespace relay::audit {
namespace {

const WallTime kNow{std::chrono::seconds(1'800'000'000)};  // 2027-01-15T08:00:00Z

std::string since(std::string_view text) {
  const auto time = parse_since(text, kNow);
  return time ? format_iso8601(*time) : "refused";
}

TEST(Since, TakesASpanBeforeNow) {
  EXPECT_EQ(since("0s"), "2027-01-15T08:00:00.000000+00:00");
  EXPECT_EQ(since("90s"), "2027-01-15T07:58:30.000000+00:00");
  EXPECT_EQ(since("10m"), "2027-01-15T07:50:00.000000+00:00");
  EXPECT_EQ(since("1h30m"), "2027-01-15T06:30:00.000000+00:00");
  EXPECT_EQ(since("2d"), "2027-01-13T08:00:00.000000+00:00");
}

TEST(Since, TakesATimeWhichIsUtcUnlessItSaysOtherwise) {
  EXPECT_EQ(since("2026-11-15"), "2026-11-15T00:00:00.000000+00:00");
  EXPECT_EQ(since("2026-11-15T20:04"), "2026-11-15T20:04:00.000000+00:00");
  EXPECT_EQ(since("2026-11-15 23:59:59"), "2026-11-15T23:59:59.000000+00:00");
  EXPECT_EQ(since("2026-11-15T20:04:05.25Z"), "2026-11-15T20:04:05.250000+00:00");
  EXPECT_EQ(since("2026-11-15T20:04:05.1234567Z"), "2026-11-15T20:04:05.123456+00:00");
  EXPECT_EQ(since("2026-11-15T20:04:05.123456+00:00"), "2026-11-15T20:04:05.123456+00:00");
  EXPECT_EQ(since("2026-11-15T20:04+01:30"), "2026-11-15T18:34:00.000000+00:00");
  EXPECT_EQ(since("2026-11-15T20:04-05:00"), "2026-11-16T01:04:00.000000+00:00");
  EXPECT_EQ(since("2024-02-29"), "2024-02-29T00:00:00.000000+00:00");
  EXPECT_EQ(since("1970-01-01"), "1970-01-01T00:00:00.000000+00:00");
}

// A word that is read as something else than it means would show the wrong lines.
TEST(Since, RefusesWhatIsNeither) {
  for (const std::string_view text : {"",
                                      "10",
                                      "m",
                                      "10x",
                                      "-10m",
                                      "1.5h",
                                      "10m ",
                                      "10m5",
                                      "9999999999s",
                                      "99999999d",
                                      "yesterday",
                                      "2026-13-01",
                                      "2026-02-29",
                                      "2026-1-1",
                                      "26-01-01",
                                      "1969-12-31",
                                      "20261115",
                                      "2026-11-15T",
                                      "2026-11-15T24:00",
                                      "2026-11-15T20:60",
                                      "2026-11-15T20",
                                      "2026-11-15T20:04:60",
                                      "2026-11-15T20:04:05.",
                                      "2026-11-15T20:04:5",
                                      "2026-11-15T20:04x",
                                      "2026-11-15T20:04Zx",
                                      "2026-11-15T20:04+1:00",
                                      "2026-11-15T20:04+0100",
                                      "2026/11/15",
                                      "2026-11-15x20:04",
                                      "2026-11/15"})
    EXPECT_EQ(since(text), "refused") << text;
  EXPECT_THAT(parse_since("soon", kNow).error().message,
              testing::AllOf(testing::HasSubstr("\"soon\""), testing::HasSubstr("10m")));
}

}  // namespace
}  // namespace relay::audit
