#include "audit/verify.h"

#include <sstream>

#include <gtest/gtest.h>

#include "audit/audit_fixture.h"
#include "audit/canonical.h"
#include "audit/commands.h"
#include "audit/ledger.h"

namespace relay::audit {
namespace {

std::vector<std::string> make_log(std::size_t records) {
  FakeClock clock;
  ChainPoint point;
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < records; ++i) {
    std::string line;
    append_chained(line, make_closing(clock, fmt::format("req_{}", i)), point);
    line.pop_back();
    lines.push_back(std::move(line));
  }
  return lines;
}

Verification verify(const std::vector<std::string>& lines, Scope scope = Scope::whole) {
  TempFolder folder;
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  spill(folder.log(), text);
  return verify_log(folder.log(), scope);
}

TEST(Verify, SaysExactlyWhatHappened) {
  const auto log = make_log(6);
  EXPECT_TRUE(verify(log).ok);

  auto edited = log;
  edited[2].replace(edited[2].find("\"tier\":1"), 8, "\"tier\":0");
  EXPECT_EQ(verify(edited).reason, "line 3: the record does not match its chain value: it was changed");
  EXPECT_EQ(verify(edited).broken_at, 3U);
  EXPECT_EQ(verify(edited).records, 2U);

  auto removed = log;
  removed.erase(removed.begin() + 3);
  EXPECT_EQ(verify(removed).reason, "line 4: expected seq 3, found 4");

  auto swapped = log;
  std::swap(swapped[1], swapped[2]);
  EXPECT_EQ(verify(swapped).reason, "line 2: expected seq 1, found 2");

  auto inserted = log;
  inserted.insert(inserted.begin() + 2, log[1]);
  EXPECT_EQ(verify(inserted).reason, "line 3: expected seq 2, found 1");

  auto headless = std::vector(log.begin() + 2, log.end());
  EXPECT_FALSE(verify(headless).ok);
  EXPECT_TRUE(verify(headless).chain_ok);
  EXPECT_NE(verify(headless).reason.find("begins at seq 2"), std::string::npos);
  EXPECT_TRUE(verify(headless, Scope::segment).ok);

  auto unchained = log;
  unchained[3] = R"({"tool":"x"})";
  EXPECT_EQ(verify(unchained).reason, "line 4: a record without chain members inside the chained region");

  auto garbage = log;
  garbage.insert(garbage.begin() + 4, "not json");
  EXPECT_EQ(verify(garbage).reason,
            "line 5: invalid JSON inside the chained region, which no later record accounts for");

  auto legacy = log;
  legacy.insert(legacy.begin(), R"({"tool":"old"})");
  EXPECT_TRUE(verify(legacy).ok) << verify(legacy).reason;

  auto twice = log;
  twice[2].insert(1, R"("tool":"other",)");
  EXPECT_FALSE(verify(twice).ok);

  auto forged = std::vector{log[0]};
  forged[0].replace(forged[0].find(std::string(kGenesis)), 64, std::string(64, '1'));
  EXPECT_EQ(verify(forged).reason, "line 1: seq 0 does not begin with the genesis value");
}

TEST(Verify, EveryChangedByteIsNoticed) {
  const auto log = make_log(3);
  for (std::size_t i = 0; i < log[1].size(); ++i) {
    auto changed = log;
    changed[1][i] ^= 1;
    ChainVerifier verifier;
    for (const std::string& line : changed) verifier.feed(line);
    EXPECT_FALSE(verifier.finish()) << "byte " << i << ": " << changed[1];
  }
}

TEST(Verify, FailsClosedWhenThereIsNothing) {
  TempFolder folder;
  const Verification missing = verify_log(folder.log(), Scope::whole);
  EXPECT_FALSE(missing.ok);
  EXPECT_FALSE(missing.present);
  spill(folder.log(), "");
  EXPECT_EQ(verify_log(folder.log(), Scope::whole).reason, "no chained records");
  spill(folder.log(), "{\"tool\":\"x\"}\n");
  EXPECT_FALSE(verify_log(folder.log(), Scope::whole).ok);
  spill(folder.log(), std::string(2 << 20, 'x') + "\n");
  EXPECT_FALSE(verify_log(folder.log(), Scope::whole).ok);
}

TEST(Verify, PrintsTheDocumentedJson) {
  TempFolder folder;
  spill(folder.log(), make_log(1)[0] + "\n");
  std::ostringstream out;
  EXPECT_EQ(run_audit_verify({folder.log(), Scope::whole, true}, out), 0);
  EXPECT_EQ(
      out.str(),
      fmt::format(
          R"({{"ok":true,"chain_ok":true,"present":true,"anchored":true,"segment_mode":false,"path":"{}","records":1,"start_seq":0,"broken_at":null,"reason":"chain intact: 1 record(s) from seq 0"}})"
          "\n",
          folder.log()));
  spill(folder.log(), "x\n");
  std::ostringstream broken;
  EXPECT_EQ(run_audit_verify({folder.log()}, broken), 2);
  EXPECT_TRUE(broken.str().starts_with("BROKEN  ")) << broken.str();
}

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
                               authority::make_outcome(authority::Ending::timeout, "")));
    ASSERT_TRUE(ledger.append(std::move(records)));
  }
  std::ostringstream out;
  EXPECT_EQ(run_explain(folder.log(), "req_run", out), 0);
  EXPECT_EQ(out.str(),
            "2023-11-14T22:13:20.000000+00:00  req_run  run_js\nclient   alice\nargs     "
            "{\"b\":2,\"code\":\"1+1\"}\n"
            "outcome  ok, 1 bytes of output\n\nallow at tier 1 (REVERSIBLE)\n   1. deny list     no match\n  "
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
