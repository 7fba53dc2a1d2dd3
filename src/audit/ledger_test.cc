#include "audit/ledger.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <csignal>

#include <gtest/gtest.h>

#include "audit/audit_fixture.h"
#include "audit/canonical.h"
#include "audit/verify.h"
#include "base/fd.h"
#include "base/limits.h"

namespace relay::audit {
namespace {

std::vector<Record> closings(const Clock& clock, std::initializer_list<const char*> ids) {
  std::vector<Record> records;
  for (const char* id : ids) records.push_back(make_closing(clock, id));
  return records;
}

void gzip(const std::string& from, const std::string& to) {
  const std::string text = slurp(from);
  gzFile file = ::gzopen(to.c_str(), "wb");
  ::gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  ::gzclose(file);
  ::unlink(from.c_str());
}

TEST(Record, HasTheDocumentedBytes) {
  FakeClock clock;
  EXPECT_EQ(
      make_closing(clock, "req_1").text(),
      R"("ts":"2023-11-14T22:13:20.000000+00:00","tool":"run_js","tier":1,"denied":false,"args":{"b":2,"code":"1+1"},)"
      R"("output_sha256":"d4735e3a265e16eee03f59718b9b5d03019c07d8b6c51f90da3a666eec13ab35","output_len":1,"exit_code":0,)"
      R"("request_id":"req_1","client_id":"alice","outcome":"ok","duration_us":1500,"ladder":"deny list-; rules-; mode* open; confirmation-")");
  EXPECT_EQ(
      make_begin(clock.wall(), make_grant("req_2", authority::Tier::stateful)).text(),
      R"("ts":"2023-11-14T22:13:20.000000+00:00","tool":"run_js","tier":2,"denied":false,"args":{"b":2,"code":"1+1"},)"
      R"("output_sha256":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","output_len":0,"exit_code":null,)"
      R"("request_id":"req_2","client_id":"alice","action":"begin")");
}

// Checked against an independent implementation: sha256(prev + json.dumps(record, sort_keys=True,
// separators=(",", ":"), ensure_ascii=False)).
TEST(Chain, HashesTheSortedRecordWithoutItsOwnValue) {
  Record record;
  record.add_text("ts", "t");
  record.add_text("tool", "é\n");
  record.add_json("args", R"({"a":1})");
  ChainPoint point;
  std::string line;
  append_chained(line, record, point);
  EXPECT_EQ(line, "{\"ts\":\"t\",\"tool\":\"é\\n\",\"args\":{\"a\":1},\"seq\":0,\"prev\":\"" +
                      std::string(kGenesis) + "\",\"chain\":\"" + point.prev + "\"}\n");
  EXPECT_EQ(point.prev, sha256_hex(std::string(kGenesis) + "{\"args\":{\"a\":1},\"prev\":\"" +
                                   std::string(kGenesis) + "\",\"seq\":0,\"tool\":\"é\\n\",\"ts\":\"t\"}"));
  EXPECT_EQ(point.seq, 1U);
}

TEST(Ledger, StartsAChainThatVerifiesInAPrivateFile) {
  TempFolder folder;
  FakeClock clock;
  Ledger ledger({folder.log()}, clock);
  ASSERT_TRUE(ledger.start());
  ASSERT_TRUE(ledger.append(closings(clock, {"a", "b", "c"})));
  struct stat info{};
  ASSERT_EQ(::stat(folder.log().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600);
  const Verification result = verify_log(folder.log(), Scope::whole);
  EXPECT_TRUE(result.ok) << result.reason;
  EXPECT_EQ(result.records, 4U);
  EXPECT_EQ(result.start_seq, 0U);
}

// A server, and what is run beside it by hand: one log, one chain.
TEST(Ledger, WritersTakeTurns) {
  TempFolder folder;
  FakeClock clock;
  Ledger first({folder.log()}, clock);
  Ledger second({folder.log()}, clock);
  ASSERT_TRUE(first.start());
  ASSERT_TRUE(second.start());
  ASSERT_TRUE(first.append(closings(clock, {"a"})));
  ASSERT_TRUE(second.append(closings(clock, {"b", "c"})));
  ASSERT_TRUE(second.append(closings(clock, {"d"})));
  std::filesystem::rename(folder.log(), folder.file("audit.jsonl.1"));
  ASSERT_TRUE(first.append(closings(clock, {"e"})));  // knows nothing of b, c and d yet
  ASSERT_TRUE(second.append(closings(clock, {"f"})));
  const Verification result = verify_log(folder.log(), Scope::whole);
  EXPECT_TRUE(result.ok) << result.reason;
  EXPECT_EQ(result.records, 8U);
}

TEST(Ledger, ManyProcessesWriteOneChainAcrossRotations) {
  constexpr int kWriters = 4;
  constexpr int kRounds = 60;
  TempFolder folder;
  std::vector<pid_t> writers;
  for (int writer = 0; writer < kWriters; ++writer) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      const FakeClock clock;
      Ledger ledger({folder.log()}, clock);
      bool fine = ledger.start().has_value();
      for (int i = 0; fine && i < kRounds; ++i) fine = ledger.append(closings(clock, {"a", "b"})).has_value();
      ::_exit(fine ? 0 : 1);
    }
    writers.push_back(pid);
  }
  for (int i = 1; i <= 3; ++i) {
    while (lines_of(folder.log()).size() < 40) ::usleep(1000);
    std::filesystem::rename(folder.log(), folder.file("audit.jsonl." + std::to_string(i)));
  }
  for (const pid_t pid : writers) {
    int status = 0;
    ASSERT_EQ(::waitpid(pid, &status, 0), pid);
    EXPECT_EQ(status, 0);
  }
  const Verification result = verify_log(folder.log(), Scope::whole);
  EXPECT_TRUE(result.ok) << result.reason;
  EXPECT_EQ(result.records, static_cast<std::uint64_t>(kWriters * (1 + 2 * kRounds)));
}

// The turn of another process.
class OtherTurn {
 public:
  explicit OtherTurn(const std::string& path) : file_(::open(path.c_str(), O_RDWR | O_APPEND | O_CLOEXEC)) {
    take();
  }
  void take() { EXPECT_EQ(::flock(file_.get(), LOCK_EX), 0); }
  void end() { EXPECT_EQ(::flock(file_.get(), LOCK_UN), 0); }
  void write(const std::string& text) {
    EXPECT_EQ(::write(file_.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }

 private:
  Fd file_;
};

void expect_whole(const TempFolder& folder, std::uint64_t records) {
  const Verification result = verify_log(folder.log(), Scope::whole);
  EXPECT_TRUE(result.ok) << result.reason;
  EXPECT_EQ(result.records, records);
}

// Once, a few looks with growing pauses were all that a writer had. The others had the turn at each of them,
// and the append failed.
TEST(Ledger, AWriterThatFindsOthersInTheirTurnAtEveryLookWaitsAsLongAsTheyWrite) {
  const TempFolder folder;
  const FakeClock clock;
  Ledger busy({folder.log()}, clock);
  ASSERT_TRUE(busy.start());
  OtherTurn turn(folder.log());
  std::chrono::microseconds waited{0};
  std::uint64_t others = 0;
  const auto others_write = [&](std::chrono::microseconds pause) {
    turn.end();
    waited += pause;
    ASSERT_TRUE(busy.append(closings(clock, {"other"})));
    ++others;
    if (waited < std::chrono::seconds(5)) turn.take();  // far beyond the wait for a process that stopped
  };
  Ledger ledger({.path = folder.log(), .pause = others_write}, clock);
  ASSERT_TRUE(ledger.start());
  EXPECT_GT(others, 1000U);
  expect_whole(folder, 2 + others);
}

// A process decided to write to the file before it was rotated, and writes after that.
TEST(Ledger, ANewFileIsBegunAfterTheLastWriteToTheRotatedOne) {
  const TempFolder folder;
  const FakeClock clock;
  ChainPoint point;
  {
    Ledger first({folder.log()}, clock);
    ASSERT_TRUE(first.start());
    point = first.point();
  }
  OtherTurn turn(folder.log());
  std::filesystem::rename(folder.log(), folder.file("audit.jsonl.1"));
  const auto late_write = [&](std::chrono::microseconds) {
    std::string line;
    append_chained(line, make_closing(clock, "late"), point);
    turn.write(line);
    turn.end();
  };
  Ledger ledger({.path = folder.log(), .pause = late_write}, clock);
  ASSERT_TRUE(ledger.start());
  expect_whole(folder, 3);
}

// The rotation tool goes on while the newest of its files is waited for: `.1` becomes `.2`, then `.2.gz`.
TEST(Ledger, RotatedFilesThatAreRenamedWhileTheyAreReadAreFoundAgain) {
  const TempFolder folder;
  const FakeClock clock;
  {
    Ledger first({folder.log()}, clock);
    ASSERT_TRUE(first.start());
    ASSERT_TRUE(first.append(closings(clock, {"a", "b"})));
  }
  OtherTurn turn(folder.log());
  std::filesystem::rename(folder.log(), folder.file("audit.jsonl.1"));
  const auto rotate = [&](std::chrono::microseconds) {
    gzip(folder.file("audit.jsonl.1"), folder.file("audit.jsonl.2.gz"));
    turn.end();
  };
  Ledger ledger({.path = folder.log(), .pause = rotate}, clock);
  ASSERT_TRUE(ledger.start());
  EXPECT_EQ(ledger.point().seq, 4U);
  expect_whole(folder, 4);
}

TEST(Ledger, AWriterThatStopsInItsTurnIsNotWaitedForAndNothingIsLost) {
  const TempFolder folder;
  const FakeClock clock;
  std::chrono::microseconds waited{0};
  const auto count = [&](std::chrono::microseconds pause) { waited += pause; };
  Ledger ledger({.path = folder.log(), .pause = count}, clock);
  ASSERT_TRUE(ledger.start());
  EXPECT_EQ(waited.count(), 0);
  const auto waited_for = [&](const char* id, Wait wait) {
    waited = {};
    EXPECT_FALSE(ledger.append(closings(clock, {id}), wait));
    EXPECT_TRUE(ledger.got_no_turn());
    return waited;
  };
  {
    const OtherTurn turn(folder.log());
    EXPECT_LT(waited_for("a", Wait::brief), std::chrono::milliseconds(10));
    const auto ordinary = waited_for("b", Wait::ordinary);
    EXPECT_GE(ordinary, std::chrono::seconds(2));
    EXPECT_LT(ordinary, std::chrono::seconds(3));
    EXPECT_LT(waited_for("c", Wait::ordinary), std::chrono::milliseconds(10));  // it is known to have stopped
    EXPECT_GE(waited_for("d", Wait::last), std::chrono::seconds(10));
    EXPECT_EQ(ledger.backlog(), 4U);
  }
  ASSERT_TRUE(ledger.append(closings(clock, {"e"})));
  EXPECT_FALSE(ledger.got_no_turn());
  expect_whole(folder, 6);
  const OtherTurn again(folder.log());
  EXPECT_GE(waited_for("f", Wait::ordinary), std::chrono::seconds(2));  // and not known any more
}

// Without an end a writer that never gets its turn would stop a server for good.
TEST(Ledger, EvenAmongOthersThatWriteTheWaitHasAnEnd) {
  const TempFolder folder;
  const FakeClock clock;
  spill(folder.log(), "");
  OtherTurn turn(folder.log());
  std::chrono::microseconds waited{0};
  const auto others_write = [&](std::chrono::microseconds pause) {
    waited += pause;
    turn.write("\n");
  };
  Ledger ledger({.path = folder.log(), .pause = others_write}, clock);
  EXPECT_FALSE(ledger.start());
  EXPECT_GE(waited, std::chrono::seconds(10));
  EXPECT_LT(waited, std::chrono::seconds(11));
}

// Once, a failure in the middle of finding the last record was followed by a second try that took the new
// file for the first one ever.
TEST(Ledger, ATurnThatFailsBeforeTheLastRecordIsFoundIsBegunAnew) {
  const TempFolder folder;
  const FakeClock clock;
  {
    Ledger first({folder.log()}, clock);
    ASSERT_TRUE(first.start());
    ASSERT_TRUE(first.append(closings(clock, {"a"})));
  }
  std::filesystem::rename(folder.log(), folder.file("audit.jsonl.1"));
  Ledger ledger({.path = folder.log(), .pause = [](std::chrono::microseconds) {}}, clock);
  {
    const OtherTurn turn(folder.file("audit.jsonl.1"));
    EXPECT_FALSE(ledger.start());
  }
  ASSERT_TRUE(ledger.append(closings(clock, {"b"})));
  expect_whole(folder, 4);
}

TEST(Ledger, ALogThatIsCopiedAndEmptiedInItsPlaceGoesOn) {
  const TempFolder folder;
  const FakeClock clock;
  Ledger ledger({folder.log()}, clock);
  ASSERT_TRUE(ledger.start());
  ASSERT_TRUE(ledger.append(closings(clock, {"a"})));
  std::filesystem::copy_file(folder.log(), folder.file("audit.jsonl.1"));
  std::filesystem::resize_file(folder.log(), 0);
  ASSERT_TRUE(ledger.append(closings(clock, {"b"})));
  EXPECT_EQ(lines_of(folder.log()).size(), 1U);
  expect_whole(folder, 3);
}

TEST(Ledger, MakesItsFolderAndTakesTheLogFromOtherUsers) {
  const TempFolder folder;
  const FakeClock clock;
  const std::string path = folder.file("state/logs/audit.jsonl");
  Ledger ledger({path}, clock);
  ASSERT_TRUE(ledger.start());
  EXPECT_TRUE(ledger.is_local());
  spill(folder.log(), "");
  ASSERT_EQ(::chmod(folder.log().c_str(), 0644), 0);
  Ledger other({folder.log()}, clock);
  ASSERT_TRUE(other.start());
  struct stat info{};
  ASSERT_EQ(::stat(folder.log().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600);
}

TEST(Ledger, WithoutAChainLinesHaveNoneAndARestartFindsTheEnd) {
  const TempFolder folder;
  const FakeClock clock;
  const LedgerOptions options{.path = folder.log(), .chain = Chaining::off};
  {
    Ledger ledger(options, clock);
    ASSERT_TRUE(ledger.start());
    ASSERT_TRUE(ledger.append(closings(clock, {"a"})));
  }
  spill(folder.log(), "{\"torn", std::ios::app);
  Ledger ledger(options, clock);
  ASSERT_TRUE(ledger.start());
  const auto lines = lines_of(folder.log());
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_EQ(lines[0].find("\"chain\""), std::string::npos);
  EXPECT_EQ(lines[2], "{\"torn");
  EXPECT_NE(lines[3].find("\"recovered\""), std::string::npos);
}

// A record that somebody changed, or made up, is nothing to go on from: what follows it would vouch for it.
TEST(Ledger, GoesOnFromTheLastRecordThatMatchesItsChainValue) {
  const TempFolder folder;
  const FakeClock clock;
  ChainPoint genuine;
  {
    Ledger ledger({folder.log()}, clock);
    ASSERT_TRUE(ledger.start());
    genuine = ledger.point();
    ASSERT_TRUE(ledger.append(closings(clock, {"a"})));
  }
  std::string text = slurp(folder.log());
  text.replace(text.find("\"a\""), 3, "\"b\"");
  spill(folder.log(), text);
  Ledger ledger({folder.log()}, clock);
  ASSERT_TRUE(ledger.start());
  EXPECT_EQ(ledger.point().seq, genuine.seq + 1);
  EXPECT_NE(lines_of(folder.log()).back().find(genuine.prev), std::string::npos);
  EXPECT_FALSE(verify_log(folder.log(), Scope::whole).ok);
}

TEST(Ledger, ARestartAfterAProperEndAddsNothingButItsRecord) {
  const TempFolder folder;
  const FakeClock clock;
  for (int i = 0; i < 2; ++i) {
    Ledger ledger({folder.log()}, clock);
    ASSERT_TRUE(ledger.start());
  }
  const auto lines = lines_of(folder.log());
  ASSERT_EQ(lines.size(), 2U);
  for (const std::string& line : lines) EXPECT_TRUE(line.starts_with("{\"ts\"")) << line;
}

// Processes that were killed one after another, the last of them with a blank line between.
TEST(Ledger, SeveralTornLinesAreAccountedForTogether) {
  for (const std::string_view torn : {"{\"a\n{\"b\n", "{\"a\n\n{\"b", "\n{\"a\n", "{\"a\n\n"}) {
    const TempFolder folder;
    const FakeClock clock;
    {
      Ledger ledger({folder.log()}, clock);
      ASSERT_TRUE(ledger.start());
    }
    spill(folder.log(), std::string(torn), std::ios::app);
    Ledger ledger({folder.log()}, clock);
    ASSERT_TRUE(ledger.start());
    expect_whole(folder, 3);
  }
}

TEST(Ledger, ANewFileThatHoldsNothingButATornLineGoesOnFromTheRotatedOne) {
  for (const std::string_view rotated_end : {"", "{\"torn before the rotation"}) {
    const TempFolder folder;
    const FakeClock clock;
    {
      Ledger ledger({folder.log()}, clock);
      ASSERT_TRUE(ledger.start());
      ASSERT_TRUE(ledger.append(closings(clock, {"a"})));
    }
    spill(folder.log(), std::string(rotated_end), std::ios::app);
    std::filesystem::rename(folder.log(), folder.file("audit.jsonl.1"));
    spill(folder.log(), "{\"ts\":\"20");
    Ledger ledger({folder.log()}, clock);
    ASSERT_TRUE(ledger.start());
    expect_whole(folder, 4);  // start, a, recovered, start
  }
}

TEST(Ledger, ATornLineInACompressedFileIsAccountedForInTheNextOne) {
  const TempFolder folder;
  const FakeClock clock;
  {
    Ledger ledger({folder.log()}, clock);
    ASSERT_TRUE(ledger.start());
  }
  spill(folder.log(), "{\"a\n\n{\"b", std::ios::app);
  gzip(folder.log(), folder.file("audit.jsonl.1.gz"));
  Ledger ledger({folder.log()}, clock);
  ASSERT_TRUE(ledger.start());
  expect_whole(folder, 3);
}

// A process leaves a rotated file with a torn end. Another one has explained it before this one writes.
TEST(Ledger, ATornLineIsAccountedForOnce) {
  const TempFolder folder;
  const FakeClock clock;
  Ledger first({folder.log()}, clock);
  Ledger second({folder.log()}, clock);
  ASSERT_TRUE(first.start());
  ASSERT_TRUE(second.start());
  spill(folder.log(), "{\"torn", std::ios::app);
  std::filesystem::rename(folder.log(), folder.file("audit.jsonl.1"));
  ASSERT_TRUE(second.append(closings(clock, {"a"})));
  std::filesystem::rename(folder.log(), folder.file("audit.jsonl.2"));
  ASSERT_TRUE(first.append(closings(clock, {"b"})));
  ASSERT_TRUE(second.append(closings(clock, {"c"})));
  expect_whole(folder, 6);
}

// What the disk refuses is kept up to a bound, and what did not fit is counted in the log, once.
TEST(Ledger, RecordsBeyondTheBacklogAreCounted) {
  const TempFolder folder;
  const FakeClock clock;
  Ledger ledger({.path = folder.log(), .pause = [](std::chrono::microseconds) {}}, clock);
  ASSERT_TRUE(ledger.start());
  {
    const OtherTurn turn(folder.log());
    std::vector<Record> many;
    for (std::size_t i = 0; i < limits::kAuditBacklogRecords + 3; ++i)
      many.push_back(make_event({}, "note", "{}"));
    EXPECT_FALSE(ledger.append(std::move(many)));
    EXPECT_EQ(ledger.backlog(), limits::kAuditBacklogRecords);
    EXPECT_EQ(ledger.lost(), 3U);
  }
  ASSERT_TRUE(ledger.append({}));
  EXPECT_EQ(ledger.backlog(), 0U);
  EXPECT_NE(lines_of(folder.log()).back().find(R"("args":{"records":3})"), std::string::npos);
  ASSERT_TRUE(ledger.append(closings(clock, {"a"})));
  EXPECT_EQ(lines_of(folder.log()).back().find("\"lost\""), std::string::npos);
  EXPECT_EQ(ledger.lost(), 3U);
  expect_whole(folder, 1 + limits::kAuditBacklogRecords + 1 + 1);
}

TEST(Ledger, TheBacklogIsBoundedInBytesToo) {
  const TempFolder folder;
  const FakeClock clock;
  Ledger ledger({.path = folder.log(), .pause = [](std::chrono::microseconds) {}}, clock);
  ASSERT_TRUE(ledger.start());
  const std::string large = "\"" + std::string(limits::kAuditLineBytes / 2, 'x') + "\"";
  const std::size_t fit = limits::kAuditBacklogBytes / (limits::kAuditLineBytes / 2);
  {
    const OtherTurn turn(folder.log());
    std::vector<Record> many;
    for (std::size_t i = 0; i < fit + 2; ++i) many.push_back(make_event({}, "note", large));
    EXPECT_FALSE(ledger.append(std::move(many)));
    EXPECT_EQ(ledger.backlog(), fit);
    EXPECT_EQ(ledger.lost(), 2U);
  }
  ASSERT_TRUE(ledger.append({}));
  const OtherTurn turn(folder.log());
  EXPECT_FALSE(ledger.append(closings(clock, {"a"})));  // there is room again
  EXPECT_FALSE(ledger.append(closings(clock, {"b"})));
  EXPECT_EQ(ledger.backlog(), 2U);
}

// A file that may not become shorter, as `chattr +a` makes it, and a disk that is full in the middle of a
// line. Gives 0 when the log is whole after the disk has space again.
int write_to_full_append_only_log(std::size_t space, std::size_t first_batch) {
  ::signal(SIGXFSZ, SIG_IGN);
  const int file = ::memfd_create("log", MFD_ALLOW_SEALING);
  if (file < 0 || ::fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK) != 0) return 1;
  const std::string path = fmt::format("/proc/self/fd/{}", file);
  const FakeClock clock;
  Ledger ledger({path}, clock);
  if (!ledger.start()) return 2;
  struct stat info{};
  ::fstat(file, &info);
  struct rlimit limit{};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = static_cast<rlim_t>(info.st_size) + space;
  ::setrlimit(RLIMIT_FSIZE, &limit);
  std::vector<Record> records;
  for (std::size_t i = 0; i < first_batch; ++i)
    records.push_back(make_closing(clock, fmt::format("req_{}", i)));
  if (ledger.append(std::move(records))) return 3;
  if (ledger.append(closings(clock, {"while full"}))) return 4;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_FSIZE, &limit);
  if (!ledger.append(closings(clock, {"after"})) || ledger.backlog() != 0) return 5;
  const Verification result = verify_log(path, Scope::whole);
  if (!result.ok) return 6;
  const std::string text = slurp(path);
  for (std::size_t i = 0; i < first_batch; ++i)
    if (text.find(fmt::format("\"request_id\":\"req_{}\"", i)) == std::string::npos) return 7;
  std::size_t tears = 0;
  for (std::size_t at = text.find("\"recovered\""); at != std::string::npos;
       at = text.find("\"recovered\"", at + 1))
    ++tears;
  return result.records == 1 + first_batch + 2 + tears ? 0 : 8;
}

TEST(Ledger, AnAppendOnlyLogOnAFullDiskKeepsWholeLinesAndExplainsTheRest) {
  for (const std::size_t space : {1U, 100U, 700U, 900U, 1500U, 2000U}) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(write_to_full_append_only_log(space, 5));
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status >> 8, 0) << space << " bytes of space";
  }
}

// A process that starts beside one that stopped says so in the log as soon as it can.
TEST(Ledger, AStartThatGetsNoTurnIsWrittenLater) {
  const TempFolder folder;
  const FakeClock clock;
  Ledger first({folder.log()}, clock);
  ASSERT_TRUE(first.start());
  Ledger second({.path = folder.log(), .pause = [](std::chrono::microseconds) {}}, clock);
  {
    const OtherTurn turn(folder.log());
    EXPECT_FALSE(second.start());
  }
  ASSERT_TRUE(second.append({}));
  expect_whole(folder, 2);
}

TEST(Ledger, ResumesAfterARestartAndAcrossRotation) {
  TempFolder folder;
  FakeClock clock;
  {
    Ledger ledger({folder.log()}, clock);
    ASSERT_TRUE(ledger.start());
    ASSERT_TRUE(ledger.append(closings(clock, {"a"})));
  }
  {
    Ledger ledger({folder.log()}, clock);
    ASSERT_TRUE(ledger.start());
    ASSERT_TRUE(ledger.append(closings(clock, {"b"})));
    std::filesystem::rename(folder.log(), folder.file("audit.jsonl-20231114"));  // under a running server
    ASSERT_TRUE(ledger.append(closings(clock, {"c"})));
    std::filesystem::rename(folder.log(), folder.file("audit.jsonl.1"));
    ASSERT_TRUE(ledger.append(closings(clock, {"d"})));
  }
  gzip(folder.file("audit.jsonl-20231114"), folder.file("audit.jsonl-20231114.gz"));
  std::filesystem::rename(folder.log(), folder.file("audit.jsonl.2"));  // and now nothing is live
  gzip(folder.file("audit.jsonl.2"), folder.file("audit.jsonl.2.gz"));
  Ledger ledger({folder.log()}, clock);
  ASSERT_TRUE(ledger.start());
  EXPECT_EQ(ledger.point().seq, 7U);
  const Verification whole = verify_log(folder.log(), Scope::whole);
  EXPECT_TRUE(whole.ok) << whole.reason;
  EXPECT_EQ(whole.records, 7U);
  EXPECT_EQ(whole.reason, "chain intact: 7 record(s) from seq 0 in 4 files");
  const Verification segment = verify_log(folder.log(), Scope::segment);
  EXPECT_TRUE(segment.ok) << segment.reason;
  EXPECT_FALSE(segment.anchored);
  EXPECT_EQ(segment.start_seq, 6U);
  std::filesystem::remove(folder.file("audit.jsonl.1"));
  const Verification gap = verify_log(folder.log(), Scope::whole);
  EXPECT_FALSE(gap.ok);
  EXPECT_NE(gap.reason.find("expected seq 4, found 5"), std::string::npos) << gap.reason;
}

TEST(Ledger, ATornLastLineIsKeptAndAccountedFor) {
  for (const std::size_t cut : {1U, 2U, 40U, 200U, 400U}) {
    TempFolder folder;
    FakeClock clock;
    {
      Ledger ledger({folder.log()}, clock);
      ASSERT_TRUE(ledger.start());
      ASSERT_TRUE(ledger.append(closings(clock, {"a", "b"})));
    }
    const std::string whole = slurp(folder.log());
    const std::string torn = whole.substr(0, whole.size() - cut);
    spill(folder.log(), torn);
    const Verification before = verify_log(folder.log(), Scope::whole);
    EXPECT_EQ(before.ok, cut == 1);  // only the newline is missing: the record is there
    Ledger ledger({folder.log()}, clock);
    ASSERT_TRUE(ledger.start());
    EXPECT_TRUE(slurp(folder.log()).starts_with(torn));
    const Verification after = verify_log(folder.log(), Scope::whole);
    EXPECT_TRUE(after.ok) << after.reason;
    EXPECT_EQ(after.reason.find("interrupted") != std::string::npos, cut > 1) << after.reason;
    // Nobody may quietly remove or change what is left of the torn line.
    if (cut == 1) continue;
    std::string changed = slurp(folder.log());
    changed[torn.size() - 3] ^= 1;
    spill(folder.log(), changed);
    EXPECT_FALSE(verify_log(folder.log(), Scope::whole).ok);
  }
}

TEST(Ledger, ALineTornBeforeARotationIsAccountedForInTheNextFile) {
  TempFolder folder;
  FakeClock clock;
  {
    Ledger ledger({folder.log()}, clock);
    ASSERT_TRUE(ledger.start());
    ASSERT_TRUE(ledger.append(closings(clock, {"a", "b"})));
  }
  const std::string whole = slurp(folder.log());
  spill(folder.file("audit.jsonl.1"), whole.substr(0, whole.size() - 100));
  std::filesystem::remove(folder.log());
  Ledger ledger({folder.log()}, clock);
  ASSERT_TRUE(ledger.start());
  const Verification result = verify_log(folder.log(), Scope::whole);
  EXPECT_TRUE(result.ok) << result.reason;
  EXPECT_EQ(result.records, 4U);  // start, a, recovered, start
}

// The whole thing in a child: the limit on file sizes cannot be taken back.
TEST(Ledger, AFullDiskLosesNothingThatWasAcknowledged) {
  TempFolder folder;
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    SystemClock clock;
    Ledger ledger({folder.log()}, clock);
    if (!ledger.start()) ::_exit(1);
    struct rlimit limit{};
    ::getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = 20'000;
    ::setrlimit(RLIMIT_FSIZE, &limit);
    std::ofstream acknowledged(folder.file("acknowledged"));
    int failures = 0;
    for (int i = 0; i < 200; ++i) {
      std::vector<Record> records;
      records.push_back(make_closing(clock, fmt::format("req_{}", i)));
      if (ledger.append(std::move(records))) {
        acknowledged << fmt::format("req_{}", i) << std::endl;
      } else {
        ++failures;
      }
    }
    if (failures == 0 || ledger.backlog() != static_cast<std::size_t>(failures)) ::_exit(2);
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_FSIZE, &limit);
    ::_exit(ledger.append({}) && ledger.backlog() == 0 ? 0 : 3);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  const Verification result = verify_log(folder.log(), Scope::whole);
  EXPECT_TRUE(result.ok) << result.reason;
  EXPECT_EQ(result.records, 201U);
  const std::string log = slurp(folder.log());
  for (const std::string& id : lines_of(folder.file("acknowledged")))
    EXPECT_NE(log.find("\"" + id + "\""), std::string::npos) << id;
}

TEST(Ledger, ANonRegularOrMissingPlaceIsAnError) {
  TempFolder folder;
  FakeClock clock;
  ASSERT_EQ(::mkfifo(folder.log().c_str(), 0600), 0);
  Ledger pipe({folder.log()}, clock);
  EXPECT_FALSE(pipe.start());
  Ledger nowhere({"/proc/relay/audit.jsonl"}, clock);
  EXPECT_FALSE(nowhere.start());
}

TEST(Ledger, WritesCefAndLeefWithoutLettingValuesForgeFields) {
  TempFolder folder;
  FakeClock clock;
  for (const LogFormat format : {LogFormat::cef, LogFormat::leef}) {
    const std::string path = folder.file(format == LogFormat::cef ? "cef" : "leef");
    Ledger ledger({path, format, Chaining::off}, clock);
    ASSERT_TRUE(ledger.start());
    authority::Call call = make_call("req_1");
    call.tool = "x=1|y\ttier=9\nCEF:0";
    const authority::Grant grant = make_grant("req_1");
    std::vector<Record> records;
    records.push_back(make_end(clock.wall(), call, grant.decision(),
                               authority::make_outcome(authority::Ending::ok, ""), {}));
    ASSERT_TRUE(ledger.append(std::move(records)));
    const auto lines = lines_of(path);
    ASSERT_EQ(lines.size(), 2U);
    const bool cef = format == LogFormat::cef;
    EXPECT_TRUE(lines[1].starts_with(cef ? "CEF:0|relay|relay|1.0|audit|tool-call|5|args="
                                         : "LEEF:2.0|relay|relay|1.0|audit|x09|args="))
        << lines[1];
    EXPECT_NE(lines[1].find(cef ? R"(tool=x\=1\|y)" : R"(tool=x\=1|y\ttier\=9\nCEF:0)"), std::string::npos)
        << lines[1];
  }
}

}  // namespace
}  // namespace relay::audit
