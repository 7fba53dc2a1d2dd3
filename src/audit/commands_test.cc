#include "audit/commands.h"

#include <algorithm>
#include <sstream>

#include <gtest/gtest.h>

#include "audit/audit_fixture.h"
#include "audit/ledger.h"

namespace relay::audit {
namespace {

TEST(Explain, PrintsTheLadderAndTheInnerCalls) {
  TempFolder folder;
  FakeClock clock;
  {
    Ledger ledger({folder.log()}, clock);
    ASSERT_TRUE(ledger.start());
    std::vector<Record> records;
    records.push_back(make_begin(clock.wall(), make_grant("req_run", authority::Tier::stateful)));
    records.push_back(make_closing(clock, "req_run"));
    authority::Call inner = make_call("req_inner");
    inner.parent = "req_run";
    const authority::Grant grant = make_grant("x");
    records.push_back(make_end(clock.wall(), inner, grant.decision(),
                               authority::make_outcome(authority::Ending::timeout, ""),
                               std::chrono::seconds(30)));
    ASSERT_TRUE(ledger.append(std::move(records)));
  }
  std::ostringstream out;
  EXPECT_EQ(run_explain(folder.log(), "req_run", out), 0);
  EXPECT_EQ(out.str(),
            "2023-11-14T22:13:20.000000+00:00  req_run  run_js\nclient   alice\nargs     "
            "{\"b\":2,\"code\":\"1+1\"}\n"
            "outcome  ok after 1.5 ms, 1 bytes of output\n\nallow at tier 1 (REVERSIBLE)\n   1. deny list    "
            " no match\n  "
            " 2. rules         no match\n"
            "-> 3. mode          matched  open\n   4. confirmation  no match\n\ncalls it made\n  req_inner  "
            "run_js  timeout\n");
  std::ostringstream short_id;
  EXPECT_EQ(run_explain(folder.log(), "req_ru", short_id), 0);
  EXPECT_EQ(short_id.str(), out.str());
  std::ostringstream several;
  EXPECT_EQ(run_explain(folder.log(), "req_", several), 1);
  EXPECT_NE(several.str().find("2 calls in"), std::string::npos) << several.str();
  std::ostringstream none;
  EXPECT_EQ(run_explain(folder.log(), "req_none", none), 1);
  EXPECT_EQ(none.str(), "no call req_none in " + folder.log() + "\n");
  EXPECT_EQ(run_explain(folder.log(), "", none), 1);
}

std::string explain(const std::vector<std::string>& lines, const std::string& id) {
  TempFolder folder;
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  spill(folder.log(), text);
  std::ostringstream out;
  run_explain(folder.log(), id, out);
  return out.str();
}

TEST(Explain, SaysOfACallWithoutClosingLineThatItBegan) {
  const std::string begin = R"({"request_id":"req_1","tool":"t","action":"begin","client_id":"c"})";
  const std::string end =
      R"({"request_id":"req_1","tool":"t","outcome":"error","client_id":"c","output_len":3})";
  EXPECT_NE(explain({begin}, "req_1").find("began; no closing line yet"), std::string::npos);
  for (const auto& lines : {std::vector{begin, end}, std::vector{end, begin}}) {
    EXPECT_EQ(explain(lines, "req_1").find("began"), std::string::npos);
    EXPECT_NE(explain(lines, "req_1").find("outcome  error, 3 bytes of output\n"), std::string::npos);
  }
}

TEST(Explain, NamesTheRunThatACallIsPartOfAndOnlyEndedCallsOfARun) {
  const std::string run = R"({"request_id":"req_1","tool":"run_js","outcome":"ok"})";
  const std::string inner = R"({"request_id":"req_2","tool":"read","outcome":"ok","parent":"req_1"})";
  const std::string begun = R"({"request_id":"req_3","tool":"write","action":"begin","parent":"req_1"})";
  EXPECT_NE(explain({run, inner, begun}, "req_1").find("calls it made\n  req_2  read  ok\n"),
            std::string::npos);
  EXPECT_EQ(explain({run, inner, begun}, "req_1").find("req_3"), std::string::npos);
  EXPECT_EQ(explain({run, inner}, "req_1").find("part of"), std::string::npos);
  EXPECT_NE(explain({run, inner}, "req_2").find("part of  req_1\n"), std::string::npos);
  EXPECT_EQ(explain({run, inner}, "req_2").find("calls it made"), std::string::npos);
}

TEST(Explain, TellsTheVerdictFromTheOutcome) {
  const auto told = [](const std::string& members) {
    return explain({R"({"request_id":"req_1","tier":2,"ladder":"mode* guarded",)" + members + "}"}, "req_1");
  };
  EXPECT_NE(told(R"("outcome":"denied","denied":true)").find("\ndeny at tier 2"), std::string::npos);
  EXPECT_NE(told(R"("outcome":"invalid","denied":false)").find("\ndeny at tier 2"), std::string::npos);
  EXPECT_NE(told(R"("outcome":"confirm_required","denied":false)").find("\nconfirm at tier 2"),
            std::string::npos);
  EXPECT_NE(told(R"("outcome":"error","denied":false)").find("\nallow at tier 2"), std::string::npos);
}

TEST(Explain, FindsCallsInRotatedFiles) {
  TempFolder folder;
  const FakeClock clock;
  ChainPoint point;
  std::string line;
  append_chained(line, make_closing(clock, "req_0"), point);
  spill(folder.file("audit.jsonl.1"), line);
  spill(folder.log(), "not a record, but req_0 is in it\n");
  std::ostringstream out;
  EXPECT_EQ(run_explain(folder.log(), "req_0", out), 0);
}

const std::vector<std::string> kTailLog{
    R"({"ts":"2026-11-15T20:00:00.000000+00:00","tool":"audit","args":{"pid":1},"action":"start"})",
    R"({"ts":"2026-11-15T20:01:00.000000+00:00","tool":"read","client_id":"local/claude","outcome":"ok"})",
    R"({"ts":"2026-11-15T20:02:00.000000+00:00","tool":"write","client_id":"alice","action":"begin"})",
    R"({"ts":"2026-11-15T20:03:00.000000+00:00","tool":"write","client_id":"alice","outcome":"denied"})",
    R"({"ts":"2026-11-15T20:04:00.000000+00:00","tool":"audit","action":"recovered"})"};
const WallTime kTailNow{std::chrono::sys_days(std::chrono::year(2026) / 11 / 15) +
                        std::chrono::minutes(1205)};

struct Tailed {
  int code;
  std::string out;
  std::string notes;
  [[nodiscard]] std::size_t lines() const { return static_cast<std::size_t>(std::ranges::count(out, '\n')); }
};
Tailed tail_of(TailOptions options) {
  TempFolder folder;
  std::string text;
  for (const std::string& line : kTailLog) text += line + "\n";
  spill(folder.log(), text);
  if (options.path.empty()) options.path = folder.log();
  std::ostringstream out;
  std::ostringstream notes;
  const int code = run_audit_tail(options, kTailNow, out, notes, [] { return false; });
  return {code, out.str(), notes.str()};
}

TEST(TailCommand, TakesLinesOfAToolAClientAnOutcomeAndATime) {
  EXPECT_EQ(tail_of({}).lines(), 5U);
  EXPECT_EQ(tail_of({.lines = 2}).out, kTailLog[3] + "\n" + kTailLog[4] + "\n");
  EXPECT_EQ(tail_of({.tool = "read"}).out, kTailLog[1] + "\n");
  EXPECT_EQ(tail_of({.client = "alice"}).out, kTailLog[2] + "\n" + kTailLog[3] + "\n");
  EXPECT_EQ(tail_of({.client = "claude"}).out, kTailLog[1] + "\n");
  EXPECT_EQ(tail_of({.client = "local/claude"}).out, kTailLog[1] + "\n");
  EXPECT_EQ(tail_of({.client = "lice"}).out, "");
  EXPECT_EQ(tail_of({.outcome = "denied"}).out, kTailLog[3] + "\n");
  EXPECT_EQ(tail_of({.since = "2m"}).out, kTailLog[3] + "\n" + kTailLog[4] + "\n");
  EXPECT_EQ(tail_of({.since = "2026-11-15T20:03:00.000001"}).out, kTailLog[4] + "\n");
  EXPECT_EQ(tail_of({.tool = "write", .outcome = "ok"}).out, "");
  EXPECT_EQ(tail_of({.lines = 1, .client = "alice", .since = "1h"}).out, kTailLog[3] + "\n");
}

// A server and each `relay run` beside it write a start line; between calls they are noise.
TEST(TailCommand, ShowsPeopleStartsOnlyWhenTheyAsk) {
  EXPECT_EQ(tail_of({.columns = 200}).lines(), 4U);
  EXPECT_EQ(tail_of({.columns = 200}).out.find("start"), std::string::npos);
  EXPECT_NE(tail_of({.columns = 200}).out.find("recovered"), std::string::npos);
  EXPECT_EQ(tail_of({.starts = Starts::shown, .columns = 200}).lines(), 5U);
  EXPECT_EQ(tail_of({.tool = "audit", .columns = 200}).lines(), 2U);
  EXPECT_EQ(tail_of({.lines = 4, .columns = 200}).lines(), 4U);
}

TEST(TailCommand, SaysThatThereIsNoLogYetAndThatThisIsFine) {
  const TempFolder folder;
  const Tailed none = tail_of({.path = folder.file("none")});
  EXPECT_EQ(none.code, 0);
  EXPECT_EQ(none.out, "");
  EXPECT_TRUE(none.notes.starts_with("no log yet: " + folder.file("none"))) << none.notes;
  std::filesystem::create_directory(folder.log());
  const Tailed unreadable = tail_of({.path = folder.log()});
  EXPECT_EQ(unreadable.code, 2);
  EXPECT_NE(unreadable.notes, "");
}

TEST(TailCommand, FollowsALogThatIsNotThereYet) {
  const TempFolder folder;
  std::ostringstream out;
  std::ostringstream notes;
  int round = 0;
  const auto more = [&] {
    if (round == 1) spill(folder.log(), kTailLog[1] + "\n" + kTailLog[3] + "\n");
    return ++round < 4;
  };
  const TailOptions options{.path = folder.log(), .outcome = "ok", .follow = true};
  EXPECT_EQ(run_audit_tail(options, kTailNow, out, notes, more), 0);
  EXPECT_EQ(out.str(), kTailLog[1] + "\n");
}

TEST(TailCommand, RefusesAnOutcomeOrATimeThatDoesNotExist) {
  EXPECT_EQ(tail_of({.outcome = "fine"}).code, 2);
  EXPECT_EQ(
      tail_of({.outcome = "fine"}).notes,
      "there is no outcome \"fine\"; the outcomes are ok, error, denied, confirm_required, invalid, timeout, "
      "too_large, busy, cancelled\n");
  EXPECT_EQ(tail_of({.since = "soon"}).code, 2);
  EXPECT_EQ(tail_of({.since = "soon"}).out, "");
}

// Lines that are far back are found, as many as were asked for, without reading all of a large log.
TEST(Tail, LooksFurtherBackUntilItHasEnough) {
  TempFolder folder;
  const std::string filler = fmt::format("{{\"tool\":\"y\",\"x\":\"{}\"}}\n", std::string(1000, 'x'));
  std::string text = "{\"tool\":\"x\",\"n\":1}\n{\"tool\":\"x\",\"n\":2}\n";
  for (int i = 0; i < 3000; ++i) text += filler;
  text += "{\"tool\":\"x\",\"n\":3}\n";
  spill(folder.log(), text);
  const auto found = [&](std::size_t lines) {
    return last_matches(folder.log(), {.lines = lines, .tool = "x"}).value();
  };
  EXPECT_EQ(found(1), (std::vector<std::string>{"{\"tool\":\"x\",\"n\":3}"}));
  EXPECT_EQ(found(2), (std::vector<std::string>{"{\"tool\":\"x\",\"n\":2}", "{\"tool\":\"x\",\"n\":3}"}));
  EXPECT_EQ(found(9).size(), 3U);
}

TEST(Tail, LinesThatAreNotRecordsPassOnlyWhenNothingIsAskedFor) {
  EXPECT_TRUE(passes({}, "not a record"));
  EXPECT_FALSE(passes({.tool = "x"}, "not a record"));
  EXPECT_FALSE(passes({.client = "x"}, "{}"));
  EXPECT_FALSE(passes({.since = WallTime{}}, "{}"));
  EXPECT_FALSE(passes({.tier = 0}, "{}"));
  EXPECT_FALSE(passes({.denied = false}, "{}"));
  EXPECT_TRUE(passes({.denied = false}, R"({"denied":false})"));
  EXPECT_FALSE(passes({.starts = Starts::hidden}, R"({"tool":"audit","action":"start"})"));
  EXPECT_TRUE(passes({.starts = Starts::hidden}, R"({"tool":"other","action":"start"})"));
}

TEST(Tail, FollowsALogThatIsEmptiedInItsPlace) {
  TempFolder folder;
  spill(folder.log(), "{\"n\":0}\n{\"n\":0}\n");
  std::vector<std::string> seen;
  int round = 0;
  const auto more = [&] {
    if (round == 1) spill(folder.log(), "{\"n\":1}\n");
    if (round == 3) spill(folder.log(), "{\"n\":2}\n", std::ios::app);
    return ++round < 6;
  };
  ASSERT_TRUE(follow(folder.log(), {}, [&](std::string_view line) { seen.emplace_back(line); }, more));
  EXPECT_EQ(seen, (std::vector<std::string>{"{\"n\":1}", "{\"n\":2}"}));
}

TEST(Tail, FiltersInsideTheWindowAndFollowsRotation) {
  TempFolder folder;
  std::string text;
  for (int i = 0; i < 100; ++i)
    text += fmt::format("{{\"tool\":\"t{}\",\"tier\":{},\"denied\":{}}}\n", i % 2, i % 4, i % 5 == 0);
  spill(folder.log(), text);
  EXPECT_EQ(last_lines(folder.log(), {.lines = 10})->size(), 10U);
  EXPECT_EQ(last_lines(folder.log(), {.lines = 10, .tool = "t1"})->size(), 5U);
  EXPECT_EQ(last_lines(folder.log(), {.lines = 20, .tier = 3, .denied = true})->size(), 1U);
  EXPECT_EQ(last_lines(folder.log(), {.lines = 1000})->size(), 100U);
  EXPECT_EQ(last_lines(folder.file("none"), {})->size(), 0U);
  const auto matches = last_matches(folder.log(), {.lines = 10, .tool = "t1"});
  ASSERT_EQ(matches->size(), 10U);
  EXPECT_EQ(matches->back(), R"({"tool":"t1","tier":3,"denied":false})");
  EXPECT_FALSE(last_matches(folder.file("none"), {}));

  std::vector<std::string> seen;
  int round = 0;
  const auto more = [&] {
    if (round == 1) spill(folder.log(), "{\"n\":1}\n{\"n\":", std::ios::app);
    if (round == 2) spill(folder.log(), "2}\n", std::ios::app);
    if (round == 3) std::filesystem::rename(folder.log(), folder.file("audit.jsonl.1"));
    if (round == 3) spill(folder.log(), "{\"n\":3}\n");
    return ++round < 6;
  };
  ASSERT_TRUE(follow(folder.log(), {}, [&](std::string_view line) { seen.emplace_back(line); }, more));
  EXPECT_EQ(seen, (std::vector<std::string>{"{\"n\":1}", "{\"n\":2}", "{\"n\":3}"}));
}

}  // namespace
}  // namespace relay::audit
