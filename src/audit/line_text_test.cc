#include "audit/line_text.h"

#include <gmock/gmock.h>

namespace relay::audit {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kLine =
    R"j({"ts":"2026-11-16T15:09:37.045666+00:00","tool":"run_js","tier":1,"denied":false,"args":{"args":[],"code":"console.log(1)","stdin":""},"request_id":"req_383d3e9b219209a9","client_id":"local/x","outcome":"ok","duration_us":1500,"seq":15})j";

TEST(ReadableLine, SaysWhenHowWhatWhoAndWithWhat) {
  EXPECT_EQ(
      to_readable(kLine, 200),
      R"j(11-16 15:09:37  ok        1.5 ms  run_js         local/x            req_383d3e9b       {"code":"console.log(1)"})j");
}

TEST(ReadableLine, IsCutWhereTheTerminalEnds) {
  EXPECT_EQ(to_readable(kLine, 80).size(), 80U);
  EXPECT_THAT(to_readable(kLine, 80), testing::EndsWith("..."));
  EXPECT_EQ(to_readable(kLine, 0), "");
}

TEST(ReadableLine, ShowsTheLogsOwnRecords) {
  EXPECT_THAT(
      to_readable(
          R"({"ts":"2026-11-16T15:09:35.5+00:00","tool":"audit","args":{"pid":7},"action":"start","seq":14})",
          200),
      HasSubstr("start             audit"));
  EXPECT_THAT(to_readable(R"({"ts":"odd","tool":7})", 200), StartsWith("odd"));
}

TEST(ReadableLine, ShowsABeginningAndAQuestionByTheirNames) {
  EXPECT_THAT(to_readable(R"({"ts":"","tool":"x","action":"begin"})", 200), HasSubstr("begin"));
  EXPECT_THAT(
      to_readable(R"({"ts":"","tool":"x","action":"confirm_plan","outcome":"confirm_required"})", 200),
      HasSubstr("confirm  "));
}

TEST(ReadableLine, LeavesOutArgumentsThatSayNothing) {
  EXPECT_THAT(
      to_readable(R"({"ts":"","args":{"a":"","b":[],"c":{},"d":null,"e":0,"f":false,"g":[1],"h":{"i":1}}})",
                  200),
      testing::EndsWith(R"({"e":0,"f":false,"g":[1],"h":{"i":1}})"));
  EXPECT_THAT(to_readable(R"({"ts":"","args":{"a":""}})", 200), Not(HasSubstr("{")));
}

TEST(ReadableLine, CountsCharactersAndNotBytes) {
  const std::string line = to_readable(R"({"ts":"","args":{"x":"你好你好你好"}})", 200);
  std::size_t characters = 0;
  for (const char c : line) characters += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  EXPECT_EQ(to_readable(R"({"ts":"","args":{"x":"你好你好你好"}})", characters), line);
  EXPECT_THAT(to_readable(R"({"ts":"","args":{"x":"你好你好你好"}})", characters - 1),
              testing::EndsWith("你好你好..."));
  EXPECT_EQ(to_readable(kLine, 2), "..");
}

TEST(Took, HasTheUnitInWhichItIsCompared) {
  using std::chrono::microseconds;
  const auto text = [](std::int64_t us) { return format_took(microseconds(us)); };
  EXPECT_EQ(text(0), "0 us");
  EXPECT_EQ(text(999), "999 us");
  EXPECT_EQ(text(1000), "1.0 ms");
  EXPECT_EQ(text(9949), "9.9 ms");
  EXPECT_EQ(text(9950), "10 ms");
  EXPECT_EQ(text(12'345), "12 ms");
  EXPECT_EQ(text(999'499), "999 ms");
  EXPECT_EQ(text(999'500), "1.0 s");
  EXPECT_EQ(text(99'949'999), "99.9 s");
  EXPECT_EQ(text(99'950'000), "100 s");
}

// What a client or a guest sent must not reach the terminal as an order.
TEST(ReadableLine, ObeysNobody) {
  const std::string hostile = to_readable(
      "{\"ts\":\"2026-11-16T15:09:37Z\",\"tool\":\"a\\u001b[2J\",\"client_id\":\"\xC2\x9B"
      "31m\xE2\x80\xAE\",\"args\":{\"x\":\"\\n\\r\\u0007\"}}",
      200);
  for (const char c : hostile) EXPECT_TRUE(c >= 0x20 && c < 0x7F) << hostile;
  EXPECT_THAT(to_readable(R"({"ts":"","args":{"x":"你好"}})", 200), HasSubstr("你好"));
  EXPECT_THAT(to_readable("\x1b]0;title\x07 not a record", 200), Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace relay::audit
