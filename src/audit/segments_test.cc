#include "audit/segments.h"

#include <zlib.h>

#include <gmock/gmock.h>

#include "audit/audit_fixture.h"
#include "audit/chain.h"
#include "base/limits.h"

namespace relay::audit {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string chained_line(std::uint64_t seq) {
  const FakeClock clock;
  ChainPoint point{seq, std::string(kGenesis)};
  std::string line;
  append_chained(line, make_closing(clock, "req"), point);
  return line;
}

std::vector<std::string> names_of(const std::vector<Segment>& segments) {
  std::vector<std::string> names;
  for (const Segment& segment : segments) names.push_back(std::filesystem::path(segment.path).filename());
  return names;
}

// A file that is not of this log must not become part of its chain; one that is must not be left out.
TEST(Rotated, AreTheFilesWhoseNamesRotationToolsMake) {
  const TempFolder folder;
  std::uint64_t seq = 90;
  const std::vector<std::string> taken{
      "audit.jsonl-20261115",      "audit.jsonl-20261115.gz", "audit.jsonl-20261115-093",
      "audit.jsonl-20261116-1.gz", "audit.jsonl.1",           "audit.jsonl.12.gz"};
  for (const std::string& name : taken) spill(folder.file(name), chained_line(--seq));
  for (const std::string name :
       {"audit.jsonl", "audit.jsonl-2026111", "audit.jsonl-202611151", "audit.jsonl-2026111x",
        "audit.jsonl-20261115-", "audit.jsonl-20261115-x", "audit.jsonl.", "audit.jsonl.x", "audit.jsonl.1x",
        "audit.jsonl.gz", "audit.jsonl1", "xaudit.jsonl.1", "audit.jsonl-", "audit.jsonl_1"})
    spill(folder.file(name), chained_line(1));
  std::vector<std::string> oldest_first(taken.rbegin(), taken.rend());
  EXPECT_EQ(names_of(find_rotated(folder.log())), oldest_first);
}

TEST(Rotated, FilesWithoutARecordAreNotPartOfTheChain) {
  const TempFolder folder;
  spill(folder.file("audit.jsonl.1"), "");
  spill(folder.file("audit.jsonl.2"), "not a record\n{\"tool\":\"x\"}\n");
  spill(folder.file("audit.jsonl.3"), "not a record\n{\"tool\":\"x\"}\n" + chained_line(7));
  std::filesystem::create_directory(folder.file("audit.jsonl.4"));
  const auto found = find_rotated(folder.log());
  ASSERT_THAT(names_of(found), ElementsAre("audit.jsonl.3"));
  EXPECT_EQ(found[0].first_seq, 7U);
}

TEST(Rotated, OfALogInTheWorkingDirectoryAreFoundToo) {
  EXPECT_THAT(find_rotated("a log that is not there"), IsEmpty());
  const TempFolder folder;
  spill(folder.file("audit.jsonl.1"), chained_line(0));
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(std::filesystem::path(folder.log()).parent_path());
  EXPECT_THAT(names_of(find_rotated("audit.jsonl")), ElementsAre("audit.jsonl.1"));
  std::filesystem::current_path(before);
}

std::vector<std::string> read_lines(const std::string& path, bool& last_terminated) {
  std::vector<std::string> lines;
  auto file = LineFile::open(path);
  while (file) {
    const auto line = file->next();
    if (!line || !*line) break;
    lines.emplace_back((*line)->text);
    last_terminated = (*line)->terminated;
  }
  return lines;
}

TEST(LineFile, GivesEveryLineWhereverTheReadsEnd) {
  const TempFolder folder;
  for (const std::size_t size : {1UL, 256 * limits::kKiB - 1, 256 * limits::kKiB, 256 * limits::kKiB + 1}) {
    bool terminated = false;
    spill(folder.log(), std::string(size, 'x') + "\n\nlast\n");
    EXPECT_THAT(read_lines(folder.log(), terminated), ElementsAre(std::string(size, 'x'), "", "last"));
    EXPECT_TRUE(terminated);
    spill(folder.log(), std::string(size, 'x') + "\nlast");
    EXPECT_THAT(read_lines(folder.log(), terminated), ElementsAre(std::string(size, 'x'), "last"));
    EXPECT_FALSE(terminated);
  }
}

TEST(LineFile, BoundsALineSoThatAHostileFileCannotExhaustTheMemory) {
  const TempFolder folder;
  spill(folder.log(), std::string(3 * limits::kAuditLineBytes, 'x'));
  auto file = LineFile::open(folder.log());
  ASSERT_TRUE(file);
  EXPECT_THAT(file->next().error().message, testing::HasSubstr("is over 1048576 bytes"));
  spill(folder.log(), std::string(limits::kAuditLineBytes, 'x'));
  auto full = LineFile::open(folder.log());
  const auto line = full->next();
  ASSERT_TRUE(line);
  EXPECT_EQ((*line)->text.size(), limits::kAuditLineBytes);
}

TEST(LineFile, SaysWhatCannotBeRead) {
  const TempFolder folder;
  EXPECT_FALSE(LineFile::open(folder.log()));
  EXPECT_FALSE(LineFile::open("/dev/null"));
  const std::string path = folder.file("audit.jsonl.1.gz");
  gzFile packed = ::gzopen(path.c_str(), "wb");
  const std::string text = chained_line(0);
  ::gzwrite(packed, text.data(), static_cast<unsigned>(text.size()));
  ::gzclose(packed);
  std::string bytes = slurp(path);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 0x55);
  spill(path, bytes);
  auto damaged = LineFile::open(path);
  ASSERT_TRUE(damaged);
  auto line = damaged->next();
  if (line && *line) line = damaged->next();
  ASSERT_FALSE(line);
  EXPECT_THAT(line.error().message, testing::HasSubstr("damaged gzip data"));
}

TEST(FileTail, GivesTheLastLinesOldestFirst) {
  const TempFolder folder;
  spill(folder.log(), "one\ntwo\n\nfour\nrest");
  const auto tail = [&](std::size_t lines) { return read_tail(folder.log(), lines, 1000).value(); };
  EXPECT_THAT(tail(2).lines, ElementsAre("", "four"));
  EXPECT_THAT(tail(4).lines, ElementsAre("one", "two", "", "four"));
  EXPECT_THAT(tail(9).lines, ElementsAre("one", "two", "", "four"));
  EXPECT_THAT(tail(0).lines, IsEmpty());
  EXPECT_EQ(tail(1).fragment, "rest");
  spill(folder.log(), "\nx\n");
  EXPECT_THAT(tail(9).lines, ElementsAre("", "x"));
  spill(folder.log(), "no newline");
  EXPECT_EQ(tail(9).fragment, "no newline");
  EXPECT_THAT(tail(9).lines, IsEmpty());
  spill(folder.log(), "");
  EXPECT_EQ(tail(9).fragment, "");
}

// The first line of a window that begins in the middle of the file is not whole.
TEST(FileTail, LeavesOutALineThatBeginsBeforeTheWindow) {
  const TempFolder folder;
  const std::string large(100 * limits::kKiB, 'x');
  spill(folder.log(), large + "\n" + large + "1\nlast\n");
  EXPECT_THAT(read_tail(folder.log(), 9, 1).value().lines, ElementsAre("last"));
  EXPECT_THAT(read_tail(folder.log(), 1, limits::kMiB).value().lines, ElementsAre("last"));
  EXPECT_THAT(read_tail(folder.log(), 2, limits::kMiB).value().lines, ElementsAre(large + "1", "last"));
  EXPECT_THAT(read_tail(folder.log(), 9, limits::kMiB).value().lines,
              ElementsAre(large, large + "1", "last"));
}

TEST(FileTail, OfAFileThatCannotBeReadIsAnError) {
  const TempFolder folder;
  EXPECT_TRUE(read_tail(folder.log(), 1, 1));  // a missing one is empty
  EXPECT_FALSE(read_tail("/dev/null/x", 1, 1));
  EXPECT_FALSE(read_tail(-1, 1, 1));
}

}  // namespace
}  // namespace relay::audit
