#include "protocol/request_state.h"

#include <limits>

#include <gtest/gtest.h>

#include "protocol/cursor.h"

namespace relay::protocol {
namespace {

constexpr std::string_view kKey = "0123456789abcdef";
const WallTime kNow{std::chrono::seconds(1'800'000'000)};

json::object params(std::string_view text) {
  return *json::parse_object(text);
}

class RequestStateTest : public testing::Test {
 protected:
  const Sha256 digest_ = digest_request("tools/call", params(R"({"name":"a","arguments":{"x":1}})"));
  const StateBinding binding_{"alice", digest_};
  const RequestState state_{"call_1", 2, kNow + std::chrono::minutes(10)};
  const std::string text_ = sign_request_state(kKey, state_, binding_);
};

TEST_F(RequestStateTest, ComesBackAsItWas) {
  const auto state = verify_request_state(kKey, text_, binding_, kNow);
  ASSERT_TRUE(state) << state.error().message;
  EXPECT_EQ(state->call, "call_1");
  EXPECT_EQ(state->round, 2);
  EXPECT_EQ(state->expires, state_.expires);
}

TEST_F(RequestStateTest, EveryChangedByteIsNoticed) {
  for (std::size_t i = 0; i < text_.size(); ++i) {
    std::string forged = text_;
    forged[i] = forged[i] == 'A' ? 'B' : 'A';
    EXPECT_FALSE(verify_request_state(kKey, forged, binding_, kNow)) << i;
  }
  EXPECT_FALSE(verify_request_state(kKey, text_ + "-TAMPERED", binding_, kNow));
  EXPECT_FALSE(verify_request_state(kKey, text_.substr(0, text_.size() - 1), binding_, kNow));
  EXPECT_FALSE(verify_request_state(kKey, "", binding_, kNow));
  EXPECT_FALSE(verify_request_state(kKey, std::string(100'000, 'A') + ".A", binding_, kNow));
}

TEST_F(RequestStateTest, BelongsToOneCallerRequestAndKey) {
  EXPECT_FALSE(verify_request_state(kKey, text_, {"mallory", digest_}, kNow));
  EXPECT_FALSE(verify_request_state("another key", text_, binding_, kNow));
  const Sha256 other = digest_request("tools/call", params(R"({"name":"a","arguments":{"x":2}})"));
  EXPECT_FALSE(verify_request_state(kKey, text_, {"alice", other}, kNow));
}

TEST_F(RequestStateTest, Expires) {
  EXPECT_TRUE(verify_request_state(kKey, text_, binding_, state_.expires - std::chrono::microseconds(1)));
  EXPECT_FALSE(verify_request_state(kKey, text_, binding_, state_.expires));
}

TEST(RequestDigest, IgnoresWhatARetryAdds) {
  EXPECT_EQ(
      digest_request("m", params(R"({"a":1,"b":2})")),
      digest_request("m", params(R"({"b":2,"a":1,"_meta":{"x":1},"inputResponses":{},"requestState":"s"})")));
  EXPECT_NE(digest_request("m", params(R"({"a":1})")), digest_request("n", params(R"({"a":1})")));
}

TEST(Cursor, LeadsBackToItsOffset) {
  const auto offset = parse_cursor(kKey, "tools/list", make_cursor(kKey, "tools/list", 100));
  ASSERT_TRUE(offset);
  EXPECT_EQ(*offset, 100u);
}

TEST(Cursor, FromElsewhereIsRefused) {
  const std::string cursor = make_cursor(kKey, "tools/list", 100);
  EXPECT_FALSE(parse_cursor(kKey, "prompts/list", cursor));
  EXPECT_FALSE(parse_cursor("another server", "tools/list", cursor));
  EXPECT_FALSE(parse_cursor(kKey, "tools/list", ""));
  EXPECT_FALSE(parse_cursor(kKey, "tools/list", "100"));
  EXPECT_FALSE(parse_cursor(kKey, "tools/list", cursor + "A"));
}

// The longest offset has twenty digits; a cursor without an offset, or with more, was not made here.
TEST(Cursor, TheLargestOffsetComesBack) {
  const std::size_t largest = std::numeric_limits<std::size_t>::max();
  EXPECT_EQ(parse_cursor(kKey, "l", make_cursor(kKey, "l", largest)), largest);
  EXPECT_EQ(parse_cursor(kKey, "l", make_cursor(kKey, "l", 0)), 0U);
}

// A state of exactly the limit is read; one more byte is not even decoded.
TEST_F(RequestStateTest, WhatIsRefusedSaysWhy) {
  const auto reason = [&](std::string_view text) {
    const auto state = verify_request_state(kKey, text, binding_, kNow);
    return state ? std::string() : state.error().message;
  };
  EXPECT_EQ(reason("no-dot"), "requestState is malformed");
  EXPECT_EQ(reason(std::string(1023, 'A') + ".A"), "requestState is malformed");
  const std::string forged = "requestState was not made by this server for this caller and this request";
  EXPECT_EQ(reason(std::string(1022, 'A') + ".A"), forged);
  EXPECT_EQ(reason("*.AAAA"), forged);
  EXPECT_EQ(reason(text_.substr(0, text_.find('.')) + ".*"), forged);
}

}  // namespace
}  // namespace relay::protocol
