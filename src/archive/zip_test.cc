#include "archive/zip.h"

#include <gtest/gtest.h>

#include "archive/zip_format.h"

namespace relay::archive {
namespace {

using namespace zip_format;

const ZipFiles kFiles{{"a.txt", "hello"}, {"b/c.js", std::string(5000, 'x')}, {"b/empty", ""}};

std::string sample(ZipMethod method = ZipMethod::store) {
  return *write_zip(kFiles, method);
}

// Overwrites a field of the n-th central record and, when asked, gives the archive back.
std::size_t central_at(const std::string& zip, std::size_t n) {
  std::size_t at = u32(zip, zip.size() - kEndBytes + 16);
  while (n-- > 0) at += kCentralBytes + u16(zip, at + 28) + u16(zip, at + 30) + u16(zip, at + 32);
  return at;
}
void poke16(std::string& zip, std::size_t at, std::uint16_t value) {
  std::string bytes;
  put16(bytes, value);
  zip.replace(at, 2, bytes);
}
void poke32(std::string& zip, std::size_t at, std::uint32_t value) {
  std::string bytes;
  put32(bytes, value);
  zip.replace(at, 4, bytes);
}
std::string renamed(std::string from, std::string to) {
  std::string zip = *write_zip({{from, "x"}}, ZipMethod::store);
  for (std::size_t at = zip.find(from); at != std::string::npos; at = zip.find(from, at + 1))
    zip.replace(at, from.size(), to);
  return zip;
}
std::string why(const std::string& zip, const ZipLimits& limits = {}) {
  auto reader = ZipReader::open(zip, limits);
  if (!reader) return reader.error().message;
  auto files = reader->read_all();
  return files ? "" : files.error().message;
}

TEST(Zip, ReadsWhatItWrites) {
  for (const ZipMethod method : {ZipMethod::store, ZipMethod::deflate}) {
    const std::string zip = sample(method);
    const auto reader = ZipReader::open(zip);
    ASSERT_TRUE(reader) << reader.error().message;
    EXPECT_EQ(*reader->read_all(), kFiles);
    EXPECT_EQ(*reader->read(*reader->find("a.txt")), "hello");
    EXPECT_EQ(reader->find("b"), nullptr);
  }
  EXPECT_LT(sample(ZipMethod::deflate).size(), 700U);
}

TEST(Zip, EqualFilesGiveEqualBytes) {
  ZipFiles other;
  for (auto it = kFiles.rbegin(); it != kFiles.rend(); ++it) other.insert(*it);
  EXPECT_EQ(*write_zip(other, ZipMethod::deflate), sample(ZipMethod::deflate));
  EXPECT_EQ(write_zip({{"a", "b"}}, ZipMethod::store)->size(), 30U + 1 + 1 + 46 + 1 + 22)
      << "no extra field, no time";
}

TEST(Zip, TheWriterRefusesNamesThatLeaveTheTree) {
  for (const char* name : {"", "/a", "../a", "a/../b", "a//b", "a/", ".", "a\\b", "C:x", "\xff"})
    EXPECT_FALSE(write_zip({{name, ""}}, ZipMethod::store)) << name;
}

TEST(Zip, ZipSlipIsRefused) {
  for (const char* name : {"../xx", "/abcd", "a/../", "a\\..b", "C:abc", "./abc", "a//bc", "..//b"})
    EXPECT_NE(why(renamed("qqqqq", name)).find("leaves the tree"), std::string::npos) << name;
  EXPECT_NE(why(renamed("qqqqq", std::string("ab\0cd", 5))), "");
}

TEST(Zip, SymbolicLinksAndDevicesAreRefused) {
  for (const std::uint32_t mode : {0120777U, 0060644U, 0010644U, 0140644U}) {
    std::string zip = sample();
    poke32(zip, central_at(zip, 0) + 38, mode << 16);
    EXPECT_NE(why(zip).find("link or a device"), std::string::npos) << mode;
  }
}

TEST(Zip, ABombIsRefusedBeforeItUnpacks) {
  const std::string zip = *write_zip({{"bomb", std::string(4 << 20, '\0')}}, ZipMethod::deflate);
  EXPECT_LT(zip.size(), 20'000U);
  EXPECT_NE(why(zip, {.unpacked_bytes = 1 << 20}).find("unpacks to more"), std::string::npos);
}

TEST(Zip, ABombThatLiesAboutItsSizeStopsAtThePromise) {
  std::string zip = *write_zip({{"bomb", std::string(4 << 20, '\0')}}, ZipMethod::deflate);
  poke32(zip, central_at(zip, 0) + 24, 10);
  EXPECT_NE(why(zip).find("not what its directory promises"), std::string::npos);
  poke32(zip, central_at(zip, 0) + 24, 5 << 20);
  EXPECT_NE(why(zip).find("not what its directory promises"), std::string::npos);
}

TEST(Zip, OverlappingEntriesAreRefused) {
  const std::string one = *write_zip({{"a", "zzzz"}}, ZipMethod::store);
  // Two directory records for one local header: the quine of zip bombs.
  std::string zip = one.substr(0, 35);
  const std::string record = one.substr(35, kCentralBytes + 1);
  std::string twice = zip + record + record + one.substr(one.size() - kEndBytes);
  poke16(twice, twice.size() - kEndBytes + 8, 2);
  poke16(twice, twice.size() - kEndBytes + 10, 2);
  poke32(twice, twice.size() - kEndBytes + 12, static_cast<std::uint32_t>(2 * record.size()));
  EXPECT_NE(why(twice).find("occurs twice"), std::string::npos);
  std::string shifted = sample();
  poke32(shifted, central_at(shifted, 0) + 20, 100);
  poke32(shifted, central_at(shifted, 0) + 24, 100);
  EXPECT_NE(why(shifted).find("overlap"), std::string::npos);
}

TEST(Zip, AbsurdSizesAndOffsetsAreRefused) {
  for (const std::size_t field : {20UL, 24UL, 42UL}) {
    for (const std::uint32_t value : {0xffffffffU, 0x7fffffffU, 0x00100000U}) {
      std::string zip = sample();
      poke32(zip, central_at(zip, 1) + field, value);
      EXPECT_NE(why(zip), "") << field << " " << value;
    }
  }
  std::string zip = sample();
  EXPECT_NE(why(zip, {.entries = 2}).find("entries"), std::string::npos);
  poke32(zip, zip.size() - kEndBytes + 16, 0xffffffff);
  EXPECT_NE(why(zip), "");
}

TEST(Zip, AFileCannotBeADirectoryToo) {
  std::string zip = *write_zip({{"a", "1"}, {"bxc", "2"}}, ZipMethod::store);
  for (std::size_t at = zip.find("bxc"); at != std::string::npos; at = zip.find("bxc", at + 1))
    zip.replace(at, 3, "a/c");
  EXPECT_NE(why(zip).find("below a file"), std::string::npos);
}

TEST(Zip, EncryptedAndOddMethodsAreRefused) {
  std::string encrypted = sample();
  poke16(encrypted, central_at(encrypted, 0) + 8, kUtf8Flag | kEncryptedFlag);
  EXPECT_NE(why(encrypted).find("encrypted"), std::string::npos);
  std::string lzma = sample();
  poke16(lzma, central_at(lzma, 0) + 10, 14);
  EXPECT_NE(why(lzma).find("not supported"), std::string::npos);
}

TEST(Zip, ALocalHeaderWithAnotherNameIsRefused) {
  std::string zip = sample();
  zip[kLocalBytes] = 'z';
  EXPECT_NE(why(zip).find("another name"), std::string::npos);
}

TEST(Zip, ChangedContentIsSeen) {
  std::string zip = sample();
  zip[zip.find("hello")] = 'j';
  EXPECT_NE(why(zip).find("checksum"), std::string::npos);
}

TEST(Zip, EveryTruncationAndEveryFlippedByteIsSafe) {
  const std::string zip = sample(ZipMethod::deflate);
  for (std::size_t length = 0; length < zip.size(); ++length) EXPECT_NE(why(zip.substr(0, length)), "");
  for (std::size_t i = 0; i < zip.size(); ++i) {
    std::string flipped = zip;
    flipped[i] = static_cast<char>(~flipped[i]);
    why(flipped);  // must not crash; a changed time stamp is no error
  }
}

}  // namespace
}  // namespace relay::archive
