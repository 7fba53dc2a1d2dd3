#include "audit/line_text.h"

#include <gmock/gmock.h>

namespace relay::audit {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kLine =
    R"j({"ts":"2026-11-16T15:09:37.045666+00:00","tool":"run_js","tier":1,"denied":false,"args":{"args":[],"code":"console.log(1)","stdin":""},"request_id":"req_383d3e9b219209a9","client_id":"local/x","outcome":"ok","seq":15})j";

TEST(ReadableLine, SaysWhenHowWhatWhoAndWithWhat) {
  EXPECT_EQ(
      to_readable(kLine, 200),
      R"j(11-16 15:09:37  ok       run_js         local/x            req_383d3e9b  {"code":"console.log(1)"})j");
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
      HasSubstr("start    audit"));
  EXPECT_THAT(to_readable(R"({"ts":"odd","tool":7})", 200), StartsWith("odd"));
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
