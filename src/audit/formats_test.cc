#include "audit/formats.h"

#include <gtest/gtest.h>

#include "audit/audit_fixture.h"

namespace relay::audit {
namespace {

Record sample() {
  Record record;
  record.add_text("tool", "a=b|c\\d\te\nf\rg \"h\"");
  record.add_number("tier", -1);
  record.add_flag("denied", true);
  record.add_flag("asked", false);
  record.add_json("args", R"({"k":"a=b"})");
  record.add_json("exit_code", "null");
  return record;
}

TEST(Formats, AreKnownByTheirNames) {
  EXPECT_EQ(find_format("jsonl"), LogFormat::jsonl);
  EXPECT_EQ(find_format("cef"), LogFormat::cef);
  EXPECT_EQ(find_format("leef"), LogFormat::leef);
  EXPECT_FALSE(find_format("json"));
}

TEST(Formats, PlainLinesAreTheMembersInTheirOrder) {
  std::string out;
  append_plain(out, sample());
  EXPECT_EQ(out,
            R"({"tool":"a=b|c\\d\te\nf\rg \"h\"","tier":-1,"denied":true,"asked":false,"args":{"k":"a=b"},)"
            "\"exit_code\":null}\n");
}

// A separator that comes out of a value would be a field that the client made up.
TEST(Formats, CefEscapesItsSeparatorsAndLineBreaks) {
  std::string out;
  append_cef(out, sample());
  EXPECT_EQ(
      out,
      "CEF:0|relay|relay|1.0|audit|tool-call|5|args={\"k\":\"a\\=b\"} asked=false denied=true exit_code=null "
      "tier=-1 tool=a\\=b\\|c\\\\d\te\\nf\\rg \"h\"\n");
}

TEST(Formats, LeefEscapesItsSeparatorsAndLineBreaks) {
  std::string out;
  append_leef(out, sample());
  EXPECT_EQ(
      out,
      "LEEF:2.0|relay|relay|1.0|audit|x09|args={\"k\":\"a\\=b\"}\tasked=false\tdenied=true\texit_code=null\t"
      "tier=-1\ttool=a\\=b|c\\\\d\\te\\nf\\rg \"h\"\n");
}

// The seconds of the time are kept from line to line; only the fraction is new.
TEST(Record, HasItsOwnTimeWhateverTheLineBeforeHad) {
  const authority::Grant grant = make_grant("req_1");
  const auto line_at = [&](std::int64_t us) {
    const WallTime time{std::chrono::microseconds(us)};
    return make_end(time, grant.call(), grant.decision(), {}, {}).text().substr(0, 39);
  };
  EXPECT_EQ(line_at(1'700'000'000'000'001), R"("ts":"2023-11-14T22:13:20.000001+00:00")");
  EXPECT_EQ(line_at(1'700'000'000'999'999), R"("ts":"2023-11-14T22:13:20.999999+00:00")");
  EXPECT_EQ(line_at(1'700'000'001'000'000), R"("ts":"2023-11-14T22:13:21.000000+00:00")");
  EXPECT_EQ(line_at(0), R"("ts":"1970-01-01T00:00:00.000000+00:00")");
}

TEST(Record, NamesTheUpstreamTheRunAndTheQuestionOnlyWhereThereAreSome) {
  authority::Call call = make_call("");
  const authority::Grant grant = make_grant("req_1");
  const FakeClock clock;
  authority::Outcome outcome = authority::make_outcome(authority::Ending::denied, "");
  const std::string bare = make_end(clock.wall(), call, grant.decision(), outcome, {}).text();
  for (const std::string_view key : {"request_id", "action", "upstream", "parent"})
    EXPECT_EQ(bare.find(fmt::format("\"{}\":", key)), std::string::npos) << key;
  EXPECT_NE(bare.find("\"denied\":true"), std::string::npos);
  EXPECT_NE(bare.find("\"exit_code\":null"), std::string::npos);
  call.request_id = "req_1";
  call.upstream = "files/read";
  call.parent = "req_0";
  outcome.action = "confirm_plan";
  outcome.exit_code = 3;
  EXPECT_NE(
      make_end(clock.wall(), call, grant.decision(), outcome, {})
          .text()
          .find(R"("exit_code":3,"request_id":"req_1","client_id":"alice","action":"confirm_plan",)"
                R"("upstream":"files/read","parent":"req_0","outcome":"denied","duration_us":0,"ladder":)"),
      std::string::npos);
}

}  // namespace
}  // namespace relay::audit
