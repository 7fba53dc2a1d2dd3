#include "audit/verify.h"

#include <sstream>

#include <gtest/gtest.h>

#include "audit/audit_fixture.h"
#include "audit/commands.h"
#include "audit/ledger.h"
#include "base/digest.h"
#include "base/limits.h"

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

std::string recovery(const std::string& fragment) {
  return fmt::format(R"({{"fragment_bytes":{},"fragment_sha256":"{}"}})", fragment.size(),
                     sha256_hex(fragment));
}

// A log of two closings with whatever stands between them; an event about the log joins the chain.
struct Forger {
  FakeClock clock;
  ChainPoint point;
  std::vector<std::string> lines;

  void add(const Record& record) {
    std::string line;
    append_chained(line, record, point);
    line.pop_back();
    lines.push_back(std::move(line));
  }
  void close(const std::string& id) { add(make_closing(clock, id)); }
  void recover(const std::string& fragment) {
    add(make_event(clock.wall(), "recovered", recovery(fragment)));
  }
};

// A caller that only looks at what feed() gives must not go on behind the break.
TEST(Verify, SaysNoFromTheBreakOn) {
  auto log = make_log(4);
  log[1].replace(log[1].find("\"tier\":1"), 8, "\"tier\":0");
  ChainVerifier verifier;
  EXPECT_TRUE(verifier.feed(log[0]));
  EXPECT_FALSE(verifier.feed(log[1]));
  EXPECT_FALSE(verifier.feed(log[2]));
  EXPECT_FALSE(verifier.feed_unterminated(log[3]));
  EXPECT_FALSE(verifier.feed_unterminated("{\"torn"));
  EXPECT_FALSE(verifier.finish());
  EXPECT_EQ(verifier.broken_at(), 2U);
  EXPECT_EQ(verifier.records(), 1U);
}

TEST(Verify, ATornLineMustBeAccountedForExactly) {
  const std::string torn = "{\"ts\":\"20";
  const auto with = [&](const std::string& explained) {
    Forger forger;
    forger.close("a");
    forger.lines.push_back(torn);
    forger.recover(explained);
    return verify(forger.lines);
  };
  EXPECT_TRUE(with(torn).ok) << with(torn).reason;
  EXPECT_EQ(with(torn).reason,
            "chain intact: 2 record(s) from seq 0; 1 interrupted write(s), each accounted for");
  EXPECT_FALSE(with(torn + "2").ok);
  EXPECT_FALSE(with("{\"ts\":\"21").ok);
  EXPECT_EQ(with("{\"ts\":\"21").broken_at, 2U);  // where the fragment is, not the record behind it

  Forger silent;
  silent.close("a");
  silent.lines.push_back(torn);
  silent.close("b");
  EXPECT_EQ(verify(silent.lines).broken_at, 2U);

  ChainVerifier verifier;
  for (std::size_t i = 0; i < 2; ++i) EXPECT_TRUE(verifier.feed(silent.lines[i]));
  EXPECT_FALSE(verifier.feed(silent.lines[2]));

  Forger two;  // joined by a newline; the line that is told is the first one
  two.close("a");
  two.lines.insert(two.lines.end(), {"{\"x", "", "{\"y"});
  two.recover("{\"x\n{\"y");
  EXPECT_TRUE(verify(two.lines).ok) << verify(two.lines).reason;
  two.lines[3] = "{\"z";
  EXPECT_EQ(verify(two.lines).broken_at, 2U);
}

// Otherwise somebody could take out a torn line and leave its explanation.
TEST(Verify, AnExplanationOfNothingIsAllowedOnlyWhereAFileBegins) {
  Forger forger;
  forger.close("a");
  forger.recover("gone");
  forger.close("b");
  EXPECT_EQ(verify(forger.lines).reason, "line 2: accounts for a torn line that is not there");
  const std::vector<std::string> archived(forger.lines.begin() + 1, forger.lines.end());
  EXPECT_TRUE(verify(archived, Scope::segment).ok) << verify(archived, Scope::segment).reason;

  std::vector<std::string> behind_old_lines = archived;
  behind_old_lines.insert(behind_old_lines.begin(), R"({"tool":"old"})");
  EXPECT_TRUE(verify(behind_old_lines, Scope::segment).ok);
}

TEST(Verify, ALogThatEndsInATornLineIsNotFineYet) {
  TempFolder folder;
  const auto log = make_log(2);
  spill(folder.log(), log[0] + "\n" + log[1].substr(0, 40));
  const Verification cut = verify_log(folder.log(), Scope::whole);
  EXPECT_FALSE(cut.ok);
  EXPECT_EQ(cut.broken_at, 2U);
  EXPECT_NE(cut.reason.find("line 2: the last line is cut off after 40 bytes"), std::string::npos)
      << cut.reason;
  spill(folder.log(), log[0] + "\n" + log[1]);
  EXPECT_TRUE(verify_log(folder.log(), Scope::whole).ok);  // only the newline is missing
  spill(folder.log(), "{\"torn");  // before the first record there is nothing to protect
  EXPECT_EQ(verify_log(folder.log(), Scope::whole).reason, "no chained records");
}

TEST(Verify, GarbageIsBoundedBecauseItIsKeptInMemory) {
  auto log = make_log(1);
  log.insert(log.end(), 3, std::string(limits::kAuditLineBytes / 2, 'x'));
  EXPECT_EQ(verify(log).reason, "line 4: too much that is not a record");
}

TEST(Verify, NamesTheFileInWhichTheChainBreaks) {
  TempFolder folder;
  auto log = make_log(4);
  log[1].replace(log[1].find("\"tier\":1"), 8, "\"tier\":0");
  spill(folder.file("audit.jsonl.1"), log[0] + "\n" + log[1] + "\n");
  spill(folder.log(), log[2] + "\n" + log[3] + "\n");
  const Verification result = verify_log(folder.log(), Scope::whole);
  EXPECT_FALSE(result.ok);
  EXPECT_EQ(result.path, folder.file("audit.jsonl.1"));
  EXPECT_EQ(result.broken_at, 2U);
  EXPECT_EQ(result.records, 1U);
}

TEST(Verify, CountsLinesFromTheBeginningOfEachFile) {
  TempFolder folder;
  auto log = make_log(4);
  log[3].replace(log[3].find("\"tier\":1"), 8, "\"tier\":0");
  spill(folder.file("audit.jsonl.1"), log[0] + "\n" + log[1] + "\n");
  spill(folder.log(), log[2] + "\n" + log[3] + "\n");
  EXPECT_EQ(verify_log(folder.log(), Scope::whole).broken_at, 2U);
  EXPECT_EQ(verify_log(folder.log(), Scope::whole).path, folder.log());
}

// Rotated files without the live one: something removed it, whatever they say.
TEST(Verify, AMissingLogIsNotFineBecauseItsRotatedFilesAre) {
  TempFolder folder;
  spill(folder.file("audit.jsonl.1"), make_log(1)[0] + "\n");
  const Verification result = verify_log(folder.log(), Scope::whole);
  EXPECT_FALSE(result.ok);
  EXPECT_TRUE(result.chain_ok);
  EXPECT_EQ(result.reason, folder.log() + " is not there");
  auto broken = make_log(1);
  broken[0].replace(broken[0].find("\"tier\":1"), 8, "\"tier\":0");
  spill(folder.file("audit.jsonl.1"), broken[0] + "\n");
  EXPECT_NE(verify_log(folder.log(), Scope::whole).reason.find("it was changed"), std::string::npos);
}

TEST(Verify, AFileThatCannotBeReadIsNotFine) {
  TempFolder folder;
  std::filesystem::create_directory(folder.log());
  const Verification result = verify_log(folder.log(), Scope::whole);
  EXPECT_FALSE(result.ok);
  EXPECT_FALSE(result.chain_ok);
  EXPECT_NE(result.reason.find("not a regular file"), std::string::npos) << result.reason;
}

// The beginning of a log is fine and its end cannot be read: that is not a log that was verified.
TEST(Verify, ALineThatIsTooLongIsNotTheEndOfTheLog) {
  TempFolder folder;
  spill(folder.log(), make_log(1)[0] + "\n" + std::string(3 * limits::kAuditLineBytes, 'x'));
  const Verification result = verify_log(folder.log(), Scope::whole);
  EXPECT_FALSE(result.ok);
  EXPECT_FALSE(result.chain_ok);
  EXPECT_EQ(result.records, 1U);
  EXPECT_NE(result.reason.find("is over 1048576 bytes"), std::string::npos) << result.reason;
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

}  // namespace
}  // namespace relay::audit
