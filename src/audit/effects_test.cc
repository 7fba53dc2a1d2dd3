#include "authority/effects.h"

#include <gtest/gtest.h>

#include "audit/recorded_fixture.h"

namespace relay::audit {
namespace {

using authority::Ending;
using authority::SideEffect;
using authority::Tier;

SideEffect fetch_from(std::string host, std::uint64_t received) {
  return {
      .tool = "fetch", .target = {{"host", std::move(host)}, {"method", "GET"}}, .received_bytes = received};
}
SideEffect refused_by(std::string host) {
  return {.tool = "fetch",
          .target = {{"host", std::move(host)}},
          .ending = Ending::denied,
          .rung = "network",
          .reason = "is private"};
}
std::string args_of(const json::object& line) {
  return json::write(line.at("args"));
}
std::string text_of(const json::object& line, std::string_view key) {
  return std::string(json::find_string(line, key).value_or(""));
}

TEST(Effects, AnEffectIsALineAtOnceWithItsCallAsParent) {
  RecordedCall recorded;
  recorded.get().effects()->add(fetch_from("a.test", 10));
  const auto lines = recorded.lines();
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(text_of(lines[0], "tool"), "fetch");
  EXPECT_EQ(text_of(lines[0], "parent"), "req_1");
  EXPECT_EQ(text_of(lines[0], "request_id"), "req_1-1");
  EXPECT_EQ(text_of(lines[0], "client_id"), "alice");
  EXPECT_EQ(text_of(lines[0], "outcome"), "ok");
  EXPECT_EQ(args_of(lines[0]), R"({"host":"a.test","method":"GET","receivedBytes":10})");
}

TEST(Effects, TheSameAgainIsCountedAndSummedBeforeTheClosingLine) {
  RecordedCall recorded;
  for (int i = 0; i < 1000; ++i) recorded.get().effects()->add(fetch_from("a.test", 10));
  recorded.get().effects()->add(fetch_from("b.test", 1));
  recorded.end();
  const auto lines = recorded.lines();
  ASSERT_EQ(lines.size(), 4U) << "two first ones, one sum, the call";
  EXPECT_EQ(text_of(lines[2], "action"), "sum");
  EXPECT_EQ(args_of(lines[2]), R"({"count":1000,"host":"a.test","method":"GET","receivedBytes":10000})");
  EXPECT_EQ(text_of(lines[3], "request_id"), "req_1");
}

TEST(Effects, BeyondTheLimitAllOthersShareOneSumForEachTool) {
  RecordedCall recorded;
  for (std::size_t i = 0; i < limits::kEffectLines + 50; ++i)
    recorded.get().effects()->add(fetch_from("h" + std::to_string(i), 2));
  recorded.get().effects()->add({.tool = "fs.write", .target = {{"path", "/host/p/a"}}, .sent_bytes = 7});
  recorded.end();
  const auto lines = recorded.lines();
  ASSERT_EQ(lines.size(), limits::kEffectLines + 3);
  EXPECT_EQ(args_of(lines[limits::kEffectLines]), R"({"count":50,"others":true,"receivedBytes":100})");
  EXPECT_EQ(args_of(lines[limits::kEffectLines + 1]), R"({"others":true,"sentBytes":7})");
}

TEST(Effects, ARefusalSaysWhichWallItWas) {
  RecordedCall recorded;
  recorded.get().effects()->add(refused_by("a.test"));
  recorded.get().effects()->add(refused_by("a.test"));
  recorded.end();
  const auto lines = recorded.lines();
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(text_of(lines[0], "outcome"), "denied");
  EXPECT_EQ(json::find_bool(lines[0], "denied"), true);
  EXPECT_EQ(text_of(lines[0], "ladder"), "network* is private");
  EXPECT_EQ(text_of(lines[1], "action"), "sum");
}

// A download may end after its run was cancelled.
TEST(Effects, AnEffectAfterTheEndOfItsCallIsStillWritten) {
  RecordedCall recorded;
  const std::shared_ptr<authority::Effects> effects = recorded.get().effects();
  recorded.end();
  effects->add(fetch_from("a.test", 1));
  effects->add(fetch_from("a.test", 1));
  EXPECT_EQ(recorded.lines().size(), 3U);
}

TEST(Effects, ACallWithoutEffectsHasOnlyItsOwnLine) {
  RecordedCall recorded;
  recorded.end();
  EXPECT_EQ(recorded.lines().size(), 1U);
}

TEST(Effects, ArgumentsOfTheCallAreNotRepeated) {
  RecordedCall recorded;
  EXPECT_EQ(recorded.get().effects()->call().args.text(), "{}");
  EXPECT_EQ(recorded.get().effects()->call().request_id, "req_1");
}

}  // namespace
}  // namespace relay::audit
